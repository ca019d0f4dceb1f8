import { isObject } from './json-object.ts'

/** Returns the JSON object in a field's text: an empty one for an empty text, undefined for invalid text. */
export function objectOf(text: string): object | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
