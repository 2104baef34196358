// The English messages of the window beyond those of the desk.
import actions from "./en/actions";
import annotators from "./en/annotators";
import components from "./en/components";
import counts from "./en/counts";
import desk_tools from "./en/desk_tools";
import disagreement from "./en/disagreement";
import encoders from "./en/encoders";
import exporting from "./en/exporting";
import guideline from "./en/guideline";
import importing from "./en/importing";
import invite from "./en/invite";
import jobs from "./en/jobs";
import kinds from "./en/kinds";
import log from "./en/log";
import measures from "./en/measures";
import models from "./en/models";
import palette from "./en/palette";
import panels from "./en/panels";
import project from "./en/project";
import questions from "./en/questions";
import settings from "./en/settings";
import study from "./en/study";
import study_plan from "./en/study_plan";
import summary from "./en/summary";
import texts from "./en/texts";
import welcome from "./en/welcome";
import why from "./en/why";

export default {
  actions,
  annotators,
  components,
  counts,
  desk_tools,
  disagreement,
  encoders,
  exporting,
  guideline,
  importing,
  invite,
  jobs,
  kinds,
  log,
  measures,
  models,
  palette,
  panels,
  project,
  questions,
  settings,
  study,
  study_plan,
  summary,
  texts,
  welcome,
  why,
} as const;
