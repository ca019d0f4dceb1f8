import { schemaProblem } from '#lib/tools/json-schema-text.ts'

/** What no checker can do with a JSON Schema, where there is something. */
export function SchemaNote({ text }: { readonly text: string }) {
  const problem = schemaProblem(text)
  return problem === undefined ? null : <p className="text-warn">{problem}</p>
}
