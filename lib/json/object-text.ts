import { isObject } from './json-object.ts'

/** The JSON object that a field holds; an empty one says an empty object, undefined: it is none. */
export function objectOf(text: string): object | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
