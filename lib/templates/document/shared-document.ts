/**
 * A lab document for another person: one revision of the template, the conversation, the name of the tokenizer, and what the page shows of
 * it. It can be opened without the library and the trajectory. Texts are as typed, so that 1.0 remains 1.0.
 */
import * as z from 'zod/mini'
import { tooDeepAt } from '#lib/json/json-depth.ts'
import { readableJson } from '#lib/json/readable-json.ts'
import { formatProblem } from '#lib/trajectory/format/format-version.ts'
import type { Plain } from '#lib/util/plain.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import { withoutByteOrderMark } from '#lib/util/text/byte-order-mark.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { displayedRevision, type LabDocument, type SourceContents, type TemplateRevision } from './document.ts'

const NAME = 'lab'
const VERSION = 1
/** Deepest nesting of a file. Documents have three levels; the following code reads a file recursively. */
const DEEPEST = 10
/** Longest text in UTF-16 units; no conversation comes near it. */
const LONGEST = 1 << 26
/** Longest name in UTF-16 units. */
const LONGEST_NAME = 2_000

const text = z.string().check(z.maxLength(LONGEST))
const name = z.string().check(z.maxLength(LONGEST_NAME))
const revisionSchema = z.readonly(z.object({ name: text, template: text }))

/** Names and values of the page's address, which may contain anything; names that a later version adds are left out. */
const viewSchema = z.readonly(
  z.partial(
    z.object({
      tab: withDescription(name, 'What the right side shows: preview, compare, stability, masks, parsers.'),
      part: z.enum(['template', 'messages', 'tools', 'options']),
      as: z.enum(['form', 'json']),
      cell: withDescription(name, 'The open cell of the prefix doctor, for example user/none/on.'),
      compares: withDescription(name, 'What the prefix doctor compares: tokens or text.'),
      at: withDescription(name, 'Index of the chosen token, from 0.'),
      colour: name,
      tokenizer2: withDescription(name, 'The tokenizer of the other side of A/B.'),
      turns: withDescription(name, 'Calls of the model in A/B.'),
    }),
  ),
)

const sharedSchema = z.readonly(
  z.object({
    revision: withDescription(revisionSchema, 'The template that is shown.'),
    against: withDescription(z.optional(revisionSchema), 'The other template of A/B. Omitted: none.'),
    messages: withDescription(text, 'JSON list of messages, as typed.'),
    tools: withDescription(text, 'JSON list of tools; empty: none.'),
    options: withDescription(text, 'JSON object of template variables.'),
    tokenizer: withDescription(
      name.check(z.minLength(1)),
      'Name as Rollscope loads it: built-in, a Hub name, a folder.',
    ),
    view: z._default(viewSchema, {}),
  }),
)

/** A shared document, as its file contains it. */
export type SharedDocument = Plain<z.infer<typeof sharedSchema>>
/** What the page shows of a shared document. */
export type SharedView = SharedDocument['view']

/** A document and what the page shows of it. */
export interface ShownDocument {
  readonly document: LabDocument
  /** Values of the address, which may be any text. */
  readonly view: { readonly [name in keyof SharedView]?: string | undefined }
  /** The other revision of A/B, if it is shown. */
  readonly against: TemplateRevision | undefined
}

/** Returns the document to share. */
export function sharedDocument({ document, view, against }: ShownDocument): SharedDocument {
  const { messages, tools, options, tokenizer } = document
  return {
    revision: revisionOf(displayedRevision(document)),
    ...(against && { against: revisionOf(against) }),
    messages,
    tools,
    options,
    tokenizer,
    view: viewSchema.safeParse(view).data ?? {},
  }
}

const revisionOf = ({ name, template }: TemplateRevision) => ({ name, template })

/** Returns the JSON of a shared document, with its format and version. */
export const sharedJson = (shared: SharedDocument): string =>
  readableJson({ format: `rollscope.${NAME}/${VERSION}`, ...shared })

/** A shared document, or why it cannot be read. */
export type ReadShared =
  | { readonly ok: true; readonly shared: SharedDocument }
  | { readonly ok: false; readonly why: string }

/** Reads the JSON of a shared document. */
export function readShared(json: string): ReadShared {
  let value: unknown
  try {
    value = JSON.parse(withoutByteOrderMark(json))
  } catch (error) {
    return { ok: false, why: `it is not JSON: ${(error as SyntaxError).message}` }
  }
  if (tooDeepAt(json, DEEPEST) !== undefined) return { ok: false, why: `it is nested deeper than ${DEEPEST} levels` }
  const wrong = formatProblem(value, NAME, VERSION)
  if (wrong !== undefined) return { ok: false, why: wrong }
  const parsed = sharedSchema.safeParse(value)
  return parsed.success
    ? { ok: true, shared: parsed.data }
    : { ok: false, why: violationText(schemaViolation(parsed.error, value)) }
}

/** Returns what opening it loads, in order: the other revision of A/B is first, so that the shared one is shown. */
export function loadedFrom({
  revision,
  against,
  messages,
  tools,
  options,
  tokenizer,
}: SharedDocument): readonly SourceContents[] {
  const source = { kind: 'file', name: revision.name } as const
  return [
    ...(against ? [{ source, ...against }] : []),
    { source, ...revision, messages, tools, options, tokenizer, trajectory: undefined },
  ]
}
