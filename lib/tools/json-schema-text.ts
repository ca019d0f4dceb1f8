import { violationText } from '#lib/util/schema-violation.ts'
import { checkSchema } from './tool-schema.ts'

/** What is wrong with a JSON Schema that is typed, beside that it is JSON at all; undefined: nothing that is known. */
export function schemaProblem(text: string): string | undefined {
  try {
    const check = checkSchema(JSON.parse(text))
    return check.ok ? undefined : `As JSON Schema: ${violationText(check.violation)}.`
  } catch {
    return undefined
  }
}
