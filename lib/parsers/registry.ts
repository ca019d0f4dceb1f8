import { hermes } from './hermes.ts'
import type { ToolParser } from './parser.ts'

/** Every tool-call parser by the name that servers, files and settings use. */
const parsers: Readonly<Record<string, ToolParser>> = { hermes }

export const DEFAULT_PARSER = 'hermes'

export const parserNames: readonly string[] = Object.keys(parsers)

export function parserNamed(name: string): ToolParser | undefined {
  return Object.hasOwn(parsers, name) ? parsers[name] : undefined
}
