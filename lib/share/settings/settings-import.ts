/** Computes what an import of settings would change, so that it can be shown before the import. */

import type { ServerEntry } from '#lib/api/server-status.ts'
import { isObject } from '#lib/json/json-object.ts'
import type { OwnPreset } from '#lib/sampling/presets.ts'
import { type PromptDraft, withVisibleMode } from './prompt-draft.ts'
import type { Settings, SettingsServer } from './settings-file.ts'
import type { Setup } from './setup.ts'

/** What an import does with one server of the file. */
export type ServerChange =
  | { readonly kind: 'added' | 'same'; readonly server: SettingsServer; readonly isKeyMissing: boolean }
  /** A saved server of this name has another address. */
  | {
      readonly kind: 'conflict'
      readonly server: SettingsServer
      readonly here: ServerEntry
      /** True: the stored key belongs to another origin and would be deleted. */
      readonly dropsKey: boolean
      readonly isKeyMissing: boolean
    }
  /** A server of this name exists that is not a saved one. It stays unchanged. */
  | { readonly kind: 'fixed'; readonly server: SettingsServer; readonly here: ServerEntry }

/** A field of the setup that an import would change. */
export interface SetupChange {
  /** Path in the setup, such as `sampling.top_p`. */
  readonly field: string
  /** Values of the field as JSON. */
  readonly from: string
  readonly to: string
}

/** What an import would change. */
export interface ImportPlan {
  readonly servers: readonly ServerChange[]
  /** The new setup; undefined if the file has none, or an equal one. */
  readonly setup:
    | {
        readonly value: Setup
        /** The current prompt with the shown mode of the file's prompt. Undefined if the file or the caller has no prompt. */
        readonly prompt: PromptDraft | undefined
        readonly changes: readonly SetupChange[]
      }
    | undefined
  /** Presets of sampling parameters that are missing or different here. */
  readonly presets: readonly { readonly kind: 'added' | 'replaced'; readonly preset: OwnPreset }[]
  /** Server of the file's setup that is neither here nor in the file. The default server is used instead. Undefined: there is none. */
  readonly unknownServer: string | undefined
}

/** Choices of the user for the differences between the file and the current settings. */
export interface ImportChoices {
  /** Names of servers that get the address of the file. */
  readonly replaced: ReadonlySet<string>
  /** Names of new servers that are not imported. */
  readonly leftOut: ReadonlySet<string>
  readonly takesSetup: boolean
  readonly takesPresets: boolean
}

/** Initial choices: everything is imported that overwrites no server. */
export const FIRST_CHOICES: ImportChoices = {
  replaced: new Set(),
  leftOut: new Set(),
  takesSetup: true,
  takesPresets: true,
}

/** Compares a settings file with the current settings. */
export function importPlan(
  file: Settings,
  here: {
    readonly servers: readonly ServerEntry[]
    readonly setup: Setup
    readonly presets: readonly OwnPreset[]
    /** Omitted: a prompt in the file is ignored. */
    readonly prompt?: PromptDraft
  },
): ImportPlan {
  const names = new Set(['', ...here.servers.map(({ name }) => name), ...file.servers.map(({ name }) => name)])
  const isUnknown = file.setup !== undefined && !names.has(file.setup.server)
  const setup = file.setup && (isUnknown ? { ...file.setup, server: '' } : file.setup)
  const prompt = file.setup && here.prompt && file.prompt && withVisibleMode(here.prompt, file.prompt)
  const changes = [
    ...(setup ? differences(here.setup, setup, '') : []),
    ...(prompt ? differences(here.prompt, prompt, 'prompt') : []),
  ]
  return {
    servers: file.servers.map((server) =>
      serverChange(
        server,
        here.servers.find(({ name }) => name === server.name),
      ),
    ),
    setup: setup && changes.length > 0 ? { value: setup, prompt, changes } : undefined,
    presets: (file.presets ?? []).flatMap((preset) => {
      const own = here.presets.find(({ name }) => name === preset.name)
      if (JSON.stringify(own?.sampling) === JSON.stringify(preset.sampling)) return []
      return [{ kind: own ? 'replaced' : 'added', preset } as const]
    }),
    unknownServer: isUnknown ? file.setup?.server : undefined,
  }
}

/** Returns all presets after the import. */
export function mergePresets(
  { presets }: ImportPlan,
  { takesPresets }: ImportChoices,
  here: readonly OwnPreset[],
): readonly OwnPreset[] {
  const taken = takesPresets ? presets.map(({ preset }) => preset) : []
  return [...here.filter(({ name }) => !taken.some((preset) => preset.name === name)), ...taken]
}

/** Returns the servers that the import saves. */
export const mergeServers = ({ servers }: ImportPlan, { replaced, leftOut }: ImportChoices): readonly ServerChange[] =>
  servers.filter(
    ({ kind, server: { name } }) =>
      (kind === 'added' && !leftOut.has(name)) || (kind === 'conflict' && replaced.has(name)),
  )

/**
 * Returns the setup after the import; undefined if it stays unchanged. `refused` holds the names of servers that could not be saved. If
 * the setup uses one of these, or a server that is left out, it gets the default server.
 */
export function setupAfterImport(
  { servers, setup }: ImportPlan,
  { leftOut, takesSetup }: ImportChoices,
  refused: ReadonlySet<string>,
): Setup | undefined {
  if (!setup || !takesSetup) return undefined
  const { server } = setup.value
  const isLeftOut = servers.some(
    ({ kind, server: { name } }) => kind === 'added' && name === server && leftOut.has(name),
  )
  return isLeftOut || refused.has(server) ? { ...setup.value, server: '' } : setup.value
}

function serverChange(server: SettingsServer, here: ServerEntry | undefined): ServerChange {
  if (!here) return { kind: 'added', server, isKeyMissing: server.needsKey }
  if (here.source !== 'saved') return { kind: 'fixed', server, here }
  if (here.baseUrl === server.baseUrl) return { kind: 'same', server, isKeyMissing: server.needsKey && !here.hasKey }
  const dropsKey = here.hasKey && !isSameOrigin(here.baseUrl, server.baseUrl)
  return { kind: 'conflict', server, here, dropsKey, isKeyMissing: server.needsKey && (!here.hasKey || dropsKey) }
}

/** Returns true if two URLs have the same origin, so that a key for one may be sent to the other. */
export const isSameOrigin = (a: string, b: string): boolean =>
  URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin

/** Lists the fields that differ. Lists are compared as a whole. */
function differences(from: unknown, to: unknown, path: string): SetupChange[] {
  if (JSON.stringify(from) === JSON.stringify(to)) return []
  if (!isObject(from) || !isObject(to)) return [{ field: path, from: JSON.stringify(from), to: JSON.stringify(to) }]
  return Object.keys(to).flatMap((name) => differences(from[name], to[name], path === '' ? name : `${path}.${name}`))
}
