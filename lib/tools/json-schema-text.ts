import { violationText } from '#lib/util/schema-violation.ts'
import { checkSchema } from './tool-schema.ts'

/** Returns what is wrong with the text of a JSON Schema, given that it is JSON, or undefined. */
export function schemaProblem(text: string): string | undefined {
  try {
    const check = checkSchema(JSON.parse(text))
    return check.ok ? undefined : `As JSON Schema: ${violationText(check.violation)}.`
  } catch {
    return undefined
  }
}
