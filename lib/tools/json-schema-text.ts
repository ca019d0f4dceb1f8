import { violationText } from '#lib/util/schema-violation.ts'
import { checkSchema } from './tool-schema.ts'

/** Returns the error of a JSON Schema in a text, as a sentence. Undefined: it is valid, or the text is not JSON. */
export function schemaProblem(text: string): string | undefined {
  try {
    const check = checkSchema(JSON.parse(text))
    return check.ok ? undefined : `As JSON Schema: ${violationText(check.violation)}.`
  } catch {
    return undefined
  }
}
