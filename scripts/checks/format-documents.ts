/**
 * Writes the documents that come from code: public/trajectory.schema.json and docs/trajectory-format.md from the trajectory
 * schema, docs/engines.md from the capabilities. Run with --write; format-documents.test.ts checks that all are current.
 */
import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { anchorOf } from '#components/docs/doc-pages.ts'
import { FORMAT, trajectorySchema } from '#lib/trajectory/format/trajectory.ts'
import { enginesDocument } from './engines-document.ts'

/** Returns the texts of the documents, by path. */
export const documents = (): Readonly<Record<string, string>> => ({
  'public/trajectory.schema.json': `${JSON.stringify(jsonSchema(), null, 2)}\n`,
  'docs/trajectory-format.md': markdown(jsonSchema()),
  'docs/engines.md': enginesDocument(),
})

/** The smallest useful file. */
const EXAMPLE = `{
  "format": "${FORMAT}",
  "id": "example",
  "createdAt": "2026-01-31T12:00:00Z",
  "model": {"tools": []},
  "vocab": {"17": "2", "20": "5"},
  "segments": [
    {"kind": "prompt", "ids": [17], "messages": []},
    {"kind": "response", "ids": [20], "logprobs": [-0.4], "thinks": [], "toolCalls": []}
  ],
  "outcome": {"kind": "ended", "reason": "end_turn"},
  "provenance": {"kind": "recorded"}
}`

interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: string
}

function jsonSchema(): Schema {
  const { $schema, ...schema } = z.toJSONSchema(trajectorySchema, { io: 'input', unrepresentable: 'any' })
  return { $schema, $id: 'trajectory.schema.json', title: FORMAT, ...schema } as Schema
}

function markdown(schema: Schema): string {
  return `# The trajectory format

<!-- Written by \`npm run format-documents\` from lib/trajectory/format/trajectory.ts. Do not edit. -->

**What does each field of a trajectory file mean?** A file of the format \`${FORMAT}\` is one JSON object in UTF-8 with one
trajectory. It contains the text of every token id, so Rollscope shows it without a server and without a tokenizer.

![The token view of a trajectory: segments on the left, coloured tokens in the middle, and the card of one token on the right](pictures/glossary.png)

A small file has these fields:

\`\`\`json
${EXAMPLE}
\`\`\`

The model read the token 17 and sampled the token 20. The JSON Schema of the format is
[trajectory.schema.json](../public/trajectory.schema.json).

## Rules

- Unknown fields survive reading and writing.
- A reader upgrades older versions and refuses newer ones.
- Parallel arrays of a segment have one entry for each of its \`ids\`.
- Every id has an entry in \`vocab\`. Entries may be missing only if the file contains ids alone and names no tokenizer.
- NaN, infinities, and −3.4e38 for a token that a grammar forbids are \`null\` in their column. An entry in \`problems\` has the
  original value.
- Spans and ranges are half-open. Logprobs are natural logarithms. \`null\` means unknown, never likely.
- All fields exist since version 1.

${section('The trajectory', schema, 2)}`
}

/**
 * Returns a table of the fields of an object, and tables of the objects in them. An object that has a table already is linked; `titles`
 * has the headings by object.
 */
function section(title: string, schema: Schema, level: number, titles = new Map<string, string>()): string {
  const rows: string[] = []
  const inner: string[] = []
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    /** Anchors of the objects that have a table already, by their path. The alternatives of a field have one path. */
    const anchors = new Map<string, string>()
    for (const object of objectsIn(field)) {
      const key = JSON.stringify({ ...object, description: '' })
      const known = titles.get(key)
      if (known !== undefined) {
        const path = known.replace(/ \([^()]*\)$/, '')
        if (!anchors.has(path)) anchors.set(path, anchorOf(known))
      } else {
        const own = heading(title, name, object)
        titles.set(key, own)
        inner.push(section(own, object, level + 1, titles))
      }
    }
    const links = Array.from(anchors, ([path, anchor]) => `Fields as in [${path}](#${anchor}).`)
    const meaning = [cell(field.description ?? itemsDescription(field)), ...links]
      .filter((text) => text !== '')
      .join(' ')
    const isRequired = schema.required?.includes(name) ? 'yes' : 'no'
    rows.push(`| \`${name}\` | ${typeName(field)} | ${isRequired} | ${meaning} |`)
  }
  const description = schema.description ? `${schema.description}\n\n` : ''
  return [
    `${'#'.repeat(Math.min(level, 5))} ${title}\n\n${description}| field | type | required | meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`,
    ...inner,
  ].join('\n')
}

/** Returns the objects with fields inside of a schema, also within lists, maps and alternatives. */
function objectsIn(schema: Schema): Schema[] {
  if (schema.properties) return [schema]
  const within = [
    schema.items,
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined,
  ]
  return within.filter((inner) => inner !== undefined).flatMap(objectsIn)
}

function heading(parent: string, name: string, { properties }: Schema): string {
  const path = parent === 'The trajectory' ? name : `${parent}.${name}`
  const tag = ['kind', 'role']
    .map((key) => ({ key, field: properties?.[key] }))
    .find(({ field }) => field?.const !== undefined || field?.enum)
  if (!tag?.field) return path
  const values = tag.field.enum ?? [tag.field.const]
  return `${path} (${tag.key}: ${values.join(', ')})`
}

function typeName(schema: Schema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ')
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives) return [...new Set(alternatives.map(typeName))].join(' or ')
  if (schema.type === 'array') return `list of ${schema.items ? typeName(schema.items) : 'anything'}`
  if (
    schema.type === 'object' &&
    typeof schema.additionalProperties === 'object' &&
    !schema.properties &&
    Object.keys(schema.additionalProperties).length > 0
  )
    return `map to ${typeName(schema.additionalProperties)}`
  return schema.type === undefined ? 'anything' : [schema.type].flat().join(' or ')
}

const itemsDescription = ({ items }: Schema): string => items?.description ?? ''

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

if (process.argv.includes('--write')) for (const [file, text] of Object.entries(documents())) writeFileSync(file, text)
