// Numbers, durations and lists.
export default {
  /** Between the names in a list. */
  list_separator: ", ",
  percent: "{{percent, number}} %",
  percent_range: "{{low, number}}–{{high, number}} %",
  seconds: "{{seconds, number}} s",
  /** Less than ten seconds, with tenths. */
  tenths: "{{seconds, number(minimumFractionDigits: 1)}} s",
  minutes: "{{minutes, number}} min",
  minutes_seconds: "{{minutes, number}} min {{seconds, number}} s",
  hours: "{{hours, number(useGrouping: false)}} h",
  hours_minutes: "{{hours, number(useGrouping: false)}} h {{minutes, number}} min",
  seconds_left: "{{seconds, number}} s left",
  minutes_left: "{{minutes, number}} min left",
  hours_left: "{{hours, number(useGrouping: false)}} h left",
} as const;
