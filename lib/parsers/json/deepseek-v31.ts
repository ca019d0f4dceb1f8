/** DeepSeek V3.1: `<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{…}<｜tool▁call▁end｜>` in a section. */

import type { ToolParser } from '../parser.ts'
import { headedParser, nameBefore } from '../reading/headed-call.ts'

const section = { open: '<｜tool▁calls▁begin｜>', close: '<｜tool▁calls▁end｜>' } as const
/** Of V3 too. */
export const DELIMITERS = { open: '<｜tool▁call▁begin｜>', close: '<｜tool▁call▁end｜>', section } as const
export const SEPARATOR = '<｜tool▁sep｜>'

export const deepseekV31: ToolParser = headedParser({
  name: 'deepseek_v31',
  sglangNames: ['deepseekv31'],
  delimiters: DELIMITERS,
  readHead: nameBefore(SEPARATOR, /[<\s]/g),
})
