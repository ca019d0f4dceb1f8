/**
 * Solar Open 2: `<|tool_call:start|>NAME<|tool_arg:start|>KEY<|tool_arg:value|>VALUE<|tool_arg:end|>…<|tool_call:end|>`, with line breaks
 * after the name and each argument.
 */

import type { ToolParser } from '../parser.ts'
import { type KeyedTags, keyedParser } from '../reading/keyed-call.ts'

/** Tags of the calls of Solar Open 2. */
export const SOLAR_OPEN2_TAGS: KeyedTags = {
  call: ['<|tool_call:start|>', '<|tool_call:end|>'],
  key: ['<|tool_arg:start|>', ''],
  value: ['<|tool_arg:value|>', '<|tool_arg:end|>'],
}

/** Parser of Solar Open 2. */
export const solarOpen2: ToolParser = { name: 'solar_open2', ...keyedParser({ tags: SOLAR_OPEN2_TAGS }) }
