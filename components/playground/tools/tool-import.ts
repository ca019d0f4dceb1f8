/** Reads tool specifications of other programs: the forms of OpenAI, Strands, MCP and Anthropic. */
import * as z from 'zod/mini'
import { isObject } from '#lib/json/json-object.ts'

/** A tool specification of another program. */
export interface ForeignSpec {
  /** Name of the form, such as `OpenAI`. */
  readonly form: string
  readonly name: string
  readonly description: string
  readonly inputSchema: object
}

const object = z.record(z.string(), z.unknown())
const naming = { name: z.string(), description: z.nullish(z.string()) }

const forms: readonly { readonly form: string; readonly read: z.ZodMiniType<Omit<ForeignSpec, 'form'>> }[] = [
  {
    form: 'OpenAI',
    read: z.pipe(
      z.object({ type: z.literal('function'), function: z.object({ ...naming, parameters: z.nullish(object) }) }),
      z.transform((spec) => read(spec.function, spec.function.parameters)),
    ),
  },
  {
    form: 'OpenAI (Responses)',
    read: z.pipe(
      z.object({ type: z.literal('function'), ...naming, parameters: z.nullish(object) }),
      z.transform((spec) => read(spec, spec.parameters)),
    ),
  },
  {
    form: 'Strands',
    read: z.pipe(
      z.object({
        toolSpec: z.object({ ...naming, inputSchema: z.union([z.object({ json: object }), object]) }),
      }),
      z.transform(({ toolSpec }) =>
        read(toolSpec, 'json' in toolSpec.inputSchema ? (toolSpec.inputSchema.json as object) : toolSpec.inputSchema),
      ),
    ),
  },
  {
    form: 'MCP',
    read: z.pipe(
      z.object({ ...naming, inputSchema: object }),
      z.transform((spec) => read(spec, spec.inputSchema)),
    ),
  },
  {
    form: 'Anthropic',
    read: z.pipe(
      z.object({ ...naming, input_schema: object }),
      z.transform((spec) => read(spec, spec.input_schema)),
    ),
  },
]

/** Returns the tool that a text describes; undefined if it describes none. */
export function foreignSpec(text: string): ForeignSpec | undefined {
  const parsed = parseJson(text)
  return parsed && specOf(parsed.value)
}

/** All tools of a text, or why it has none. */
export type ForeignSpecs =
  | { readonly ok: true; readonly specs: readonly ForeignSpec[] }
  | { readonly ok: false; readonly why: string }

/**
 * Returns all tools of a text: a single tool, a list, or an object with a `tools` list as in OpenAI requests, MCP answers to
 * tools/list and tool configurations of Strands and Bedrock.
 */
export function foreignSpecs(text: string): ForeignSpecs {
  const parsed = parseJson(text)
  if (!parsed) return { ok: false, why: 'it is not JSON' }
  const entries = listIn(parsed.value)
  if (entries.length === 0) return { ok: false, why: 'the list of tools is empty' }
  const specs = entries.map(specOf)
  const odd = specs.indexOf(undefined)
  if (odd >= 0)
    return {
      ok: false,
      why: `${entries.length > 1 ? `entry ${odd} is` : 'it is'} no tool in the form of ${forms.map(({ form }) => form).join(', ')}`,
    }
  return { ok: true, specs: specs as readonly ForeignSpec[] }
}

function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return [value]
  const inner = [value.result, value.toolConfig, value].find(
    (holder) => isObject(holder) && Array.isArray(holder.tools),
  )
  return inner ? (inner as { readonly tools: unknown[] }).tools : [value]
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function specOf(value: unknown): ForeignSpec | undefined {
  for (const { form, read } of forms) {
    const { data } = read.safeParse(value)
    if (data) return { form, ...data }
  }
  return undefined
}

const read = (
  { name, description }: { readonly name: string; readonly description?: string | null | undefined },
  schema: object | null | undefined,
): Omit<ForeignSpec, 'form'> => ({
  name,
  description: description ?? '',
  inputSchema: schema ?? { type: 'object', properties: {} },
})
