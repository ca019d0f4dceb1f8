/** What importing settings would change here, to be shown before it is done. */

import type { ServerEntry } from '#lib/api/server-status.ts'
import { isObject } from '#lib/json/json-object.ts'
import type { OwnPreset } from '#lib/sampling/presets.ts'
import { type PromptDraft, withShown } from './prompt-draft.ts'
import type { Settings, SettingsServer } from './settings-file.ts'
import type { Setup } from './setup.ts'

export type ServerChange =
  | { readonly kind: 'added' | 'same'; readonly server: SettingsServer; readonly isKeyMissing: boolean }
  /** Another address under the same name. */
  | {
      readonly kind: 'conflict'
      readonly server: SettingsServer
      readonly here: ServerEntry
      /** The key that is kept here belongs to another origin: it would go. */
      readonly dropsKey: boolean
      readonly isKeyMissing: boolean
    }
  /** The name is that of a server which is not a saved one, and stays as it is. */
  | { readonly kind: 'fixed'; readonly server: SettingsServer; readonly here: ServerEntry }

export interface SetupChange {
  /** Path in the setup, such as `sampling.top_p`. */
  readonly field: string
  /** As JSON. */
  readonly from: string
  readonly to: string
}

export interface ImportPlan {
  readonly servers: readonly ServerChange[]
  /** What the setup would be; undefined where the file has none, or it is the same. */
  readonly setup:
    | {
        readonly value: Setup
        /** The one that is here with what the file's shows. Undefined where the file has none, or none is asked for here. */
        readonly prompt: PromptDraft | undefined
        readonly changes: readonly SetupChange[]
      }
    | undefined
  /** Of sampling parameters, where they are not here as they are in the file. */
  readonly presets: readonly { readonly kind: 'added' | 'replaced'; readonly preset: OwnPreset }[]
  /** The server that the file's setup names, where it is neither here nor in the file: the default is used instead. */
  readonly unknownServer: string | undefined
}

/** What the user decides where the file says otherwise than what is here. */
export interface ImportChoices {
  /** Names of the servers that the file's address is taken for. */
  readonly replaced: ReadonlySet<string>
  /** Names of new servers that are not taken. */
  readonly leftOut: ReadonlySet<string>
  readonly takesSetup: boolean
  readonly takesPresets: boolean
}

/** Everything that takes nothing away. */
export const FIRST_CHOICES: ImportChoices = {
  replaced: new Set(),
  leftOut: new Set(),
  takesSetup: true,
  takesPresets: true,
}

export function importPlan(
  file: Settings,
  here: {
    readonly servers: readonly ServerEntry[]
    readonly setup: Setup
    readonly presets: readonly OwnPreset[]
    /** Omitted: a prompt in the file is left aside. */
    readonly prompt?: PromptDraft
  },
): ImportPlan {
  const names = new Set(['', ...here.servers.map(({ name }) => name), ...file.servers.map(({ name }) => name)])
  const isUnknown = file.setup !== undefined && !names.has(file.setup.server)
  const setup = file.setup && (isUnknown ? { ...file.setup, server: '' } : file.setup)
  const prompt = file.setup && here.prompt && file.prompt && withShown(here.prompt, file.prompt)
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

/** All that are here afterwards. */
export function takenPresets(
  { presets }: ImportPlan,
  { takesPresets }: ImportChoices,
  here: readonly OwnPreset[],
): readonly OwnPreset[] {
  const taken = takesPresets ? presets.map(({ preset }) => preset) : []
  return [...here.filter(({ name }) => !taken.some((preset) => preset.name === name)), ...taken]
}

/** Those to be saved. */
export const takenServers = ({ servers }: ImportPlan, { replaced, leftOut }: ImportChoices): readonly ServerChange[] =>
  servers.filter(
    ({ kind, server: { name } }) =>
      (kind === 'added' && !leftOut.has(name)) || (kind === 'conflict' && replaced.has(name)),
  )

/**
 * The setup as it is taken; undefined where it stays as it is here. `refused`: names of the servers that could not be
 * saved. One of them, or one that is left out, gives way to the default server.
 */
export function takenSetup(
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

/** Whether a key kept for one address may go to the other. */
export const isSameOrigin = (a: string, b: string): boolean =>
  URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin

/** Lists are compared as a whole. */
function differences(from: unknown, to: unknown, path: string): SetupChange[] {
  if (JSON.stringify(from) === JSON.stringify(to)) return []
  if (!isObject(from) || !isObject(to)) return [{ field: path, from: JSON.stringify(from), to: JSON.stringify(to) }]
  return Object.keys(to).flatMap((name) => differences(from[name], to[name], path === '' ? name : `${path}.${name}`))
}
