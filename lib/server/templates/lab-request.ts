/** The shared parts of requests to the template lab: their texts, exact to the last digit, and their tokenizer. */
import * as z from 'zod'
import { BUILT_IN } from '#lib/api/server-name.ts'
import type { LabTokenizer } from '#lib/tasks/task.ts'
import type { InputError } from '#lib/templates/document/input.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { boundedTemplate } from './bounded-template.ts'

const exact = (what: string) =>
  `${what}, or its JSON text. Numbers keep their spelling (1.0 is not 1), and keys their order.`

/** Fields of every request's schema. */
export const labShape = {
  tokenizer: z
    .string()
    .min(1)
    .max(4096)
    .exactOptional()
    .describe(
      `Hub name, or a folder under ROLLSCOPE_TOKENIZERS. Default ${BUILT_IN}: the tokenizer of the built-in model.`,
    ),
  template: z.string().max(1_000_000).exactOptional().describe('Chat template, Jinja. Default: the tokenizer’s.'),
  tools: z
    .union([z.string(), z.array(z.unknown())])
    .exactOptional()
    .describe(exact('A list of tools')),
  options: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .exactOptional()
    .describe(
      exact('An object of template variables, including add_generation_prompt, continue_final_message and documents'),
    ),
}

/** Fields of the schema of requests with a conversation. */
export const conversationShape = {
  messages: z.union([z.string(), z.array(z.unknown())]).describe(exact('A list of messages')),
}

/** Fields that select the template; see `labShape` for their defaults. */
export interface LabRequest {
  readonly tokenizer?: string
  readonly template?: string
}

/** The tokenizer and the template of a request. */
export interface TokenizerWithTemplate extends LabTokenizer {
  readonly name: string
  readonly loaded: LoadedTokenizer
  readonly template: string
}

/** Returns the tokenizer and the template that a request selects. Throws HttpProblem or TokenizerError. */
export async function loadChosenTemplate(
  { tokenizer: name = BUILT_IN, template }: LabRequest,
  tools: string,
  { tokenizers }: Pick<Services, 'tokenizers'>,
  signal: AbortSignal,
): Promise<TokenizerWithTemplate> {
  const loaded = await tokenizers.load(name, signal)
  const text = template ?? loaded.template(!['', 'null'].includes(tools.trim()))?.text
  if (text === undefined)
    throw new HttpProblem({
      status: 422,
      code: 'NO_TEMPLATE',
      detail: `the tokenizer ${name} has no chat template`,
      hint: 'Send one as `template`, or choose the tokenizer of the chat or instruct version of the model.',
    })
  const compile: TokenizerWithTemplate['compile'] = (source, use) => boundedTemplate(loaded.compile(source, use))
  return { name, loaded, template: text, tokenizer: loaded.tokenizer, compile }
}

/** Returns the problem of an input that cannot be read or rendered, with its line and column. */
export function rejectedInput({ where, className, message, line, column }: InputError): HttpProblem {
  const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`
  return new HttpProblem({
    status: 422,
    code: where === 'template' ? 'TEMPLATE_ERROR' : 'BAD_REQUEST',
    detail: `${where}: ${className}: ${message}${place}`,
    ...(where !== 'template' && { field: where }),
  })
}
