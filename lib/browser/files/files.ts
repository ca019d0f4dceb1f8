/** Exports trajectories to files in a worker, because a large one takes time. */
import { EXCLUDED_HEADER, type ExportPreview, exportPreviewSchema } from '#lib/api/export-preview.ts'
import type { Writer } from '#lib/formats/writing/writer.ts'
import { fileName, severalFileName } from '#lib/trajectory/format/file.ts'
import type { AdvantageFormula } from '#lib/trajectory/reward/advantage.ts'
import type { ForcedChoice } from '#lib/trajectory/tokens/forced-tokens.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { ApiError, callApi, fetchJson } from '../api.ts'
import { createTrajectoryTasks, type TrajectoryTasks } from '../workers/inspection.ts'
import { saveContent, saveText } from './save-file.ts'

/** A row in the list of exports: one format for a trajectory. */
export interface ExportChoice {
  readonly name: string
  readonly label: string
  /** Description of what files of the format contain. */
  readonly keeps: string
  /** Parts of the trajectories that such a file lacks. Omitted while they are not known. */
  readonly lost?: readonly string[]
  /** Whether the file can have the advantage of each trained token. */
  readonly keepsAdvantages?: boolean
  /** Why the format cannot represent the trajectory. Omitted: it can. */
  readonly refusal?: string
  /** Saves the file. `forced` decides whether tokens that a branch inserted are trained; `advantage` adds advantages by this formula. */
  readonly save: (forced: ForcedChoice, advantage?: AdvantageFormula) => void
}

/** The list of exports of an open dialog. */
export interface Exports {
  readonly choices: readonly ExportChoice[]
  /** Ends the list; a file that is being written is still saved. */
  close(): void
}

interface ExportsOptions {
  /** Key of the stored trajectory, whose advantages the server knows. Omitted: the files have none. */
  readonly storedKey?: string | undefined
  readonly tasks?: TrajectoryTasks
}

/** Calls `onChoices` with the formats at once, and again with their losses when these are known. `onError` receives errors of a file. */
export async function exportsOf(
  trajectory: TrajectoryView,
  onChoices: (choices: readonly ExportChoice[]) => void,
  onError: (error: unknown) => void,
  { storedKey, tasks = createTrajectoryTasks() }: ExportsOptions = {},
): Promise<Exports> {
  const { writableFormats } = await import('#lib/formats/registry.ts')
  const run = tasks.run(trajectory)
  const looking = new AbortController()
  let writing = 0
  let isClosed = false
  const endWhenDone = () => isClosed && writing === 0 && tasks.dispose()
  const save = async (format: string, forced: ForcedChoice) => {
    writing++
    try {
      const file = await run('trainerFile', { format, forced }, { signal: new AbortController().signal })
      saveText(file.content, file.name, file.mediaType)
    } catch (error) {
      onError(error)
    } finally {
      writing--
      endWhenDone()
    }
  }
  const hasTokens = tokenCount(trajectory) > 0
  const choices = writableFormats.map((format) => ({
    ...choiceOf(format, (forced, advantage) => {
      const { name, encoding } = format
      if (storedKey === undefined || advantage === undefined) return void save(name, forced)
      // The advantage follows from the rewards of the whole group, which the server has.
      saveStored(storedKey, { format: name, forced, advantage }, fileName(trajectory, name, encoding?.extension)).catch(
        onError,
      )
    }),
    ...(!hasTokens && !format.takesMessagesOnly && { refusal: 'Not possible: the trajectory has no tokens.' }),
  }))
  run('exportLosses', null, { signal: looking.signal }).then(
    (losses) =>
      onChoices(
        choices.map((choice) => ({ ...choice, lost: losses.find(({ name }) => name === choice.name)?.lost ?? [] })),
      ),
    (error) => looking.signal.aborted || onError(error),
  )
  return {
    choices,
    close() {
      isClosed = true
      looking.abort()
      endWhenDone()
    },
  }
}

/** Returns the row of a format. Its `save` gets no advantage if the format has none. */
const choiceOf = ({ name, label, keeps, keepsAdvantages }: Writer, save: ExportChoice['save']): ExportChoice => ({
  name,
  label,
  keeps,
  keepsAdvantages: keepsAdvantages === true,
  save: (forced, advantage) => save(forced, keepsAdvantages ? advantage : undefined),
})

async function saveStored(key: string, query: Readonly<Record<string, string>>, name: string): Promise<void> {
  const answer = await callApi(`/api/trajectories/${encodeURIComponent(key)}/export?${new URLSearchParams(query)}`)
  saveContent(await answer.blob(), name)
}

/** The exports of several stored trajectories as one JSONL file. */
export interface SeveralExports {
  readonly choices: readonly ExportChoice[]
  /** Omitted while it is not known. */
  readonly preview?: Pick<ExportPreview, 'forced' | 'excluded'>
}

interface SeveralExportsOptions {
  /** Receives the formats at once, and again with the contents and losses of the file. */
  readonly onExports: (exports: SeveralExports) => void
  /** Receives why the preview failed; every format can still be chosen. */
  readonly onPreviewError: (error: unknown) => void
  /** Receives the error if the server refuses to save. */
  readonly onSaveError: (error: unknown) => void
  readonly signal: AbortSignal
}

/** Loads the exports of stored trajectories; the lines of the file are in the order of the keys. */
export async function loadSeveralExports(
  keys: readonly string[],
  { onExports, onPreviewError, onSaveError, signal }: SeveralExportsOptions,
): Promise<void> {
  const { writableFormats } = await import('#lib/formats/registry.ts')
  const choicesWith = (preview?: ExportPreview) =>
    writableFormats.map((format) => ({
      ...choiceOf(format, (forced, advantage) => {
        const request = { keys, format: format.name, forced, ...(advantage && { advantage }) }
        saveSeveral(request, format.encoding?.extension).catch(onSaveError)
      }),
      ...(preview && lossesIn(preview, format)),
    }))
  if (signal.aborted) return
  onExports({ choices: choicesWith() })
  try {
    const preview = await previewSeveral(keys, signal)
    onExports({ choices: choicesWith(preview), preview })
  } catch (error) {
    if (!signal.aborted) onPreviewError(error)
  }
}

async function previewSeveral(keys: readonly string[], signal: AbortSignal): Promise<ExportPreview> {
  return fetchJson('/api/export/preview', exportPreviewSchema, { method: 'POST', json: { keys }, signal })
}

/** Returns the losses of a format; a loss of only some trajectories has their number. A format that would have no record is refused. */
function lossesIn(
  { samples: withTokens, excluded, formats }: ExportPreview,
  { name, takesMessagesOnly }: Writer,
): Pick<ExportChoice, 'lost' | 'refusal'> {
  const all = takesMessagesOnly ? withTokens + excluded.length : withTokens
  if (all === 0) return { refusal: 'Not possible: no trajectory has tokens.' }
  const losses = formats.find((format) => format.name === name)?.lost ?? []
  return { lost: losses.map(({ text, samples }) => (samples === all ? text : `${text} (${samples} of ${all})`)) }
}

interface SeveralRequest {
  readonly keys: readonly string[]
  readonly format: string
  readonly forced: ForcedChoice
  readonly advantage?: AdvantageFormula
}

async function saveSeveral(request: SeveralRequest, extension: string | undefined): Promise<void> {
  const { keys, format } = request
  const response = await callApi('/api/export', { method: 'POST', json: request })
  const content = await response.blob().catch(() => {
    throw new ApiError(
      response.status,
      'CUT_REPLY',
      'The download was interrupted.',
      'Nothing was saved. Rollscope was stopped, or a trajectory was deleted or damaged meanwhile: export again.',
    )
  })
  const excluded = Number(response.headers.get(EXCLUDED_HEADER) ?? 0)
  saveContent(content, severalFileName(keys.length - excluded, format, extension))
}
