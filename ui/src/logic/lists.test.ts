import { expect, it } from "vitest";
import { itemsOf } from "./lists";

it.each([
  ["English", "Ada, Ben,Cleo Li", ["Ada", "Ben", "Cleo Li"]],
  ["Arabic", "نعم، لا", ["نعم", "لا"]],
  ["Chinese", "是，否", ["是", "否"]],
  ["Japanese", "はい、いいえ", ["はい", "いいえ"]],
  ["a stored list", "学生、社会人, その他", ["学生、社会人", "その他"]],
  ["lines", "a\n\n b \r\n", ["a", "b"]],
  ["nothing", " , ,", []],
])("separates items as in %s", (_, text, items) => {
  expect(itemsOf(text)).toEqual(items);
});
