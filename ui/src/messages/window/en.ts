// The English messages of the window beyond those of the desk.
import actions from "./en/actions";
import annotators from "./en/annotators";
import backups from "./en/backups";
import components from "./en/components";
import counts from "./en/counts";
import desk_tools from "./en/desk_tools";
import disagreement from "./en/disagreement";
import encoders from "./en/encoders";
import encryption from "./en/encryption";
import exporting from "./en/exporting";
import guideline from "./en/guideline";
import importing from "./en/importing";
import invite from "./en/invite";
import jobs from "./en/jobs";
import kinds from "./en/kinds";
import links from "./en/links";
import log from "./en/log";
import masks from "./en/masks";
import measures from "./en/measures";
import models from "./en/models";
import palette from "./en/palette";
import panels from "./en/panels";
import plot_table from "./en/plot_table";
import project from "./en/project";
import questions from "./en/questions";
import settings from "./en/settings";
import study from "./en/study";
import study_plan from "./en/study_plan";
import summary from "./en/summary";
import texts from "./en/texts";
import tour from "./en/tour";
import updates from "./en/updates";
import welcome from "./en/welcome";
import why from "./en/why";

export default {
  actions,
  annotators,
  backups,
  components,
  counts,
  desk_tools,
  disagreement,
  encoders,
  encryption,
  exporting,
  guideline,
  importing,
  invite,
  jobs,
  kinds,
  links,
  log,
  masks,
  measures,
  models,
  palette,
  panels,
  plot_table,
  project,
  questions,
  settings,
  study,
  study_plan,
  summary,
  texts,
  tour,
  updates,
  welcome,
  why,
} as const;
