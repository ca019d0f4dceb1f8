/**
 * Cohere Command: `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": …, "parameters": {…}}, …]<|END_ACTION|>`. The
 * model writes the id, and the templates repeat it above the result of the call. Command R and R+ write the list
 * without ids, as fenced JSON after `Action:`.
 */
import { jsonListReader, type ListReader, listParser } from '../reading/lists.ts'
import { callWithId } from '../reading/object-call.ts'

const calledIn = callWithId({ name: 'tool_name', arguments: ['parameters', 'arguments'], id: 'tool_call_id' })
const reader = (text: string, nextBound: (from: number) => number): ListReader =>
  jsonListReader(text, nextBound, calledIn)

/** Parser of Cohere Command. */
export const cohereCommand4 = listParser({
  name: 'cohere_command4',
  sglangNames: ['cohere_command4'],
  open: '<|START_ACTION|>',
  close: '<|END_ACTION|>',
  reader,
})

/** Parser of Command R and R+. */
export const commandR = listParser({ name: 'command_r', open: 'Action:', fence: '```json', close: '```', reader })
