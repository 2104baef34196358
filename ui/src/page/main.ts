// Starts the page of a packet.
import "../styles/fonts.css";
import "../styles/tokens.css";
import "../styles/base.css";
import "../styles/layout.css";
import { mount } from "svelte";
import Page from "./Page.svelte";

const target = document.getElementById("app");
if (!target) throw new Error("page.html has no #app");

target.replaceChildren();

export default mount(Page, { target });
