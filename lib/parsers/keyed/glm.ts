/**
 * GLM: `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>…</tool_call>`. GLM-4.5 writes a line break
 * after the name, the keys and the values; GLM-4.7 and GLM-5 write none. IQuest Q1 names the tag iquest_tool_call.
 */

import type { ToolParser } from '../parser.ts'
import { keyedParser, keyedTags } from '../reading/keyed-call.ts'

/** Parser of GLM. */
export const glm: ToolParser = {
  name: 'glm',
  sglangNames: ['glm45', 'glm', 'glm47', 'ling3', 'poolside_v1', 'spark25'],
  ...keyedParser({ tags: keyedTags() }),
}
/** Parser of IQuest Q1. */
export const iquestQ1: ToolParser = {
  name: 'iquest_q1',
  sglangNames: ['iquest_q1'],
  ...keyedParser({ tags: keyedTags({ tag: 'iquest_tool_call' }) }),
}
