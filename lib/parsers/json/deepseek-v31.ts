/** DeepSeek V3.1: `<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{…}<｜tool▁call▁end｜>` in a section. */

import type { ToolParser } from '../parser.ts'
import { headedParser, nameBefore } from '../reading/headed-call.ts'

const section = { open: '<｜tool▁calls▁begin｜>', close: '<｜tool▁calls▁end｜>' } as const
/** Delimiters of V3 and V3.1. */
export const DELIMITERS = { open: '<｜tool▁call▁begin｜>', close: '<｜tool▁call▁end｜>', section } as const
/** Separator of V3 and V3.1 after the kind or the name. */
export const SEPARATOR = '<｜tool▁sep｜>'

/** Parser of DeepSeek V3.1. */
export const deepseekV31: ToolParser = headedParser({
  name: 'deepseek_v31',
  sglangNames: ['deepseekv31'],
  delimiters: DELIMITERS,
  readHead: nameBefore(SEPARATOR, /[<\s]/g),
})
