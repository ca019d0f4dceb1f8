/** Writes and reads settings as a file: the addresses of servers, but never their keys, and the setup of the playground. */

import * as z from 'zod/mini'
import { serverNameSchema } from '#lib/api/server-name.ts'
import { tooDeepAt } from '#lib/json/json-depth.ts'
import { readableJson } from '#lib/json/readable-json.ts'
import { ownPresetsSchema } from '#lib/sampling/presets.ts'
import { formatProblem } from '#lib/trajectory/format/format-version.ts'
import type { Plain } from '#lib/util/plain.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import { withoutByteOrderMark } from '#lib/util/text/byte-order-mark.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { promptDraftSchema } from './prompt-draft.ts'
import { setupSchema } from './setup-schema.ts'

const VERSION = 1
const FORMAT = `rollscope.settings/${VERSION}`
/** Limit of nesting, because the code below is recursive. No real setup comes near it. */
const DEEPEST = 100

const serverSchema = z.readonly(
  z.object({
    name: serverNameSchema,
    baseUrl: z
      .string()
      .check(z.maxLength(2000), z.regex(/^https?:\/\/[^\s@?#]+$/i, 'an address like http://127.0.0.1:30000')),
    needsKey: withDescription(
      z._default(z.boolean(), false),
      'Whether the server was saved with a key, which must be entered again elsewhere.',
    ),
  }),
)
/** A server in a settings file. */
export type SettingsServer = z.infer<typeof serverSchema>

const settingsSchema = z.readonly(
  z.object({
    servers: z.readonly(z.array(serverSchema)),
    setup: z.optional(z.readonly(setupSchema)),
    presets: withDescription(z.optional(ownPresetsSchema), 'Presets of sampling parameters. Omitted: none.'),
    /** Prompt of the next run. A shared setup has it, but exported settings do not. */
    prompt: z.optional(z.readonly(promptDraftSchema)),
  }),
)
/** Contents of a settings file. */
export type Settings = Plain<z.infer<typeof settingsSchema>>

/** Settings that were read, or why the file is refused. */
export type ReadSettings =
  | {
      readonly ok: true
      readonly settings: Settings
      /** Paths of fields that this version does not know and ignores. */
      readonly ignored: readonly string[]
    }
  | { readonly ok: false; readonly why: string }

/** Returns the text of a settings file. Only known fields are written, so that a key in another field never gets into it. */
export const settingsText = ({ servers, setup, presets = [], prompt }: Settings): string =>
  readableJson({
    format: FORMAT,
    servers: servers.map(({ name, baseUrl, needsKey }) => ({ name, baseUrl, needsKey })),
    ...(setup && { setup: setupSchema.parse(setup) }),
    ...(presets.length > 0 && { presets: ownPresetsSchema.parse(presets) }),
    ...(prompt && { prompt: promptDraftSchema.parse(prompt) }),
  })

/** Reads a settings file. Never throws; an invalid file is refused with a reason. */
export function readSettings(text: string): ReadSettings {
  let value: unknown
  try {
    value = JSON.parse(withoutByteOrderMark(text))
  } catch (error) {
    return { ok: false, why: `it is not JSON: ${(error as SyntaxError).message}` }
  }
  if (tooDeepAt(text, DEEPEST) !== undefined) return { ok: false, why: `it is nested deeper than ${DEEPEST} levels` }
  const wrong = formatProblem(value, 'settings', VERSION)
  if (wrong !== undefined) return { ok: false, why: wrong }
  const parsed = settingsSchema.safeParse(value)
  if (!parsed.success) return { ok: false, why: violationText(schemaViolation(parsed.error, value)) }
  const { servers } = parsed.data
  const twice = servers.findIndex(({ name }, index) => servers.findIndex((other) => other.name === name) < index)
  if (twice >= 0)
    return { ok: false, why: `servers[${twice}].name: ${JSON.stringify(servers[twice]?.name)} is there twice` }
  const { format: _, ...rest } = value as { readonly format: string }
  return { ok: true, settings: parsed.data, ignored: unknownPaths(rest, parsed.data, '') }
}

/** A field that is read as a whole, so that nothing inside it is ignored. */
const WHOLE = 'inputSchema'

/** Returns the paths of fields that are in the value but not in its parsed form. */
function unknownPaths(value: unknown, taken: unknown, path: string): string[] {
  if (Array.isArray(value))
    return value.flatMap((entry, index) => unknownPaths(entry, (taken as unknown[])[index], `${path}[${index}]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, entry]) => {
    const here = path === '' ? name : `${path}.${name}`
    if (!Object.hasOwn(taken as object, name)) return [here]
    return name === WHOLE ? [] : unknownPaths(entry, (taken as Record<string, unknown>)[name], here)
  })
}
