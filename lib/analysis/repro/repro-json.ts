/** Writes a reproduction as JSON. Messages, tools and options are copied as texts, because a JavaScript number would turn 1.0 into 1. */
import { REPRO_VERSION, type Repro } from './repro.ts'

/** Returns the reproduction as a JSON text with one line for each member. */
export function reproJson(repro: Repro): string {
  const { mode, tokenizer, rendered, recorded, again, recordedSide, report, drift, caveats } = repro
  const { spans: _, ...verdict } = report
  const members = {
    version: JSON.stringify(REPRO_VERSION),
    mode: JSON.stringify(mode),
    tokenizer: JSON.stringify(tokenizer),
    ...(rendered && {
      template: JSON.stringify(rendered.template),
      options: rendered.options,
      tools: rendered.tools,
      messages: rendered.messages,
      ...(rendered.clock !== undefined && { clock: JSON.stringify(new Date(rendered.clock).toISOString()) }),
    }),
    recordedSide: JSON.stringify(recordedSide),
    ids: JSON.stringify({ recorded, again }),
    ...(drift && { drift: JSON.stringify(drift) }),
    verdict: JSON.stringify(verdict),
    ...(caveats.length > 0 && { caveats: JSON.stringify(caveats) }),
  }
  const lines = Object.entries(members).map(([name, text]) => `  ${JSON.stringify(name)}: ${text}`)
  return `{\n${lines.join(',\n')}\n}\n`
}
