/**
 * PLaMo 3: any number of calls in a section, each a request with its name and its arguments as JSON. All tags are
 * `<|plamo:begin_…:plamo|>` and `<|plamo:end_…:plamo|>`, and tokens of the tokenizer are only parts of them.
 */
import { headedParser, nameBefore } from '../reading/headed-call.ts'

const begin = (part: string): string => `<|plamo:begin_${part}:plamo|>`
const end = (part: string): string => `<|plamo:end_${part}:plamo|>`

/** Parser of PLaMo 3. */
export const plamo3 = headedParser({
  name: 'plamo3',
  delimiters: {
    open: begin('tool_request') + begin('tool_name'),
    close: end('tool_arguments') + end('tool_request'),
    section: { open: begin('tool_requests'), close: end('tool_requests') },
  },
  readHead: nameBefore(
    `${end('tool_name')}${begin('tool_arguments')}<|plamo:constrain|>json<|plamo:msg|>`,
    /</g,
    end('tool_name'),
  ),
})
