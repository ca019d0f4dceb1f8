/** A tool's specification as other programs write it: OpenAI's, Strands', MCP's and Anthropic's forms. */
import * as z from 'zod'
import { isObject } from '#lib/json/json-object.ts'

export interface ForeignSpec {
  /** Whose form it is. */
  readonly form: string
  readonly name: string
  readonly description: string
  readonly inputSchema: object
}

const object = z.record(z.string(), z.unknown())
const naming = { name: z.string(), description: z.string().nullish() }

const forms: readonly { readonly form: string; readonly read: z.ZodType<Omit<ForeignSpec, 'form'>> }[] = [
  {
    form: 'OpenAI',
    read: z
      .object({ type: z.literal('function'), function: z.object({ ...naming, parameters: object.nullish() }) })
      .transform((spec) => read(spec.function, spec.function.parameters)),
  },
  {
    form: 'OpenAI (Responses)',
    read: z
      .object({ type: z.literal('function'), ...naming, parameters: object.nullish() })
      .transform((spec) => read(spec, spec.parameters)),
  },
  {
    form: 'Strands',
    read: z
      .object({
        toolSpec: z.object({ ...naming, inputSchema: z.union([z.object({ json: object }), object]) }),
      })
      .transform(({ toolSpec }) =>
        read(toolSpec, 'json' in toolSpec.inputSchema ? (toolSpec.inputSchema.json as object) : toolSpec.inputSchema),
      ),
  },
  { form: 'MCP', read: z.object({ ...naming, inputSchema: object }).transform((spec) => read(spec, spec.inputSchema)) },
  {
    form: 'Anthropic',
    read: z.object({ ...naming, input_schema: object }).transform((spec) => read(spec, spec.input_schema)),
  },
]

/** The tool that a text describes; undefined where it describes none. */
export function foreignSpec(text: string): ForeignSpec | undefined {
  const parsed = parseJson(text)
  return parsed && specOf(parsed.value)
}

export type ForeignSpecs =
  | { readonly ok: true; readonly specs: readonly ForeignSpec[] }
  | { readonly ok: false; readonly why: string }

/**
 * All tools of a text: one, a list of them, or an object that has the list as `tools`, as requests of OpenAI, answers of MCP
 * (tools/list) and tool configurations of Strands and Bedrock do.
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
