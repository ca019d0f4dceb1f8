/** A tool's specification as other programs write it: OpenAI's, Strands', MCP's and Anthropic's forms. */
import * as z from 'zod'

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
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
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
