// Keys and values of messages are checked against the English ones.
import "i18next";
import type en from "./en";
import type window from "./window/en";

declare module "i18next" {
  interface CustomTypeOptions {
    resources: { translation: typeof en & typeof window };
    strictInterpolationChecks: true;
  }
}
