/** Exports: written in a worker, a large one takes its time. */
import { EXCLUDED_HEADER, type ExportPreview, exportPreviewSchema } from '#lib/api/export-preview.ts'
import { severalFileName } from '#lib/trajectory/format/file.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { ApiError, callApi, fetchJson } from '../api.ts'
import { createTrajectoryTasks, type TrajectoryTasks } from '../workers/inspection.ts'
import { saveContent, saveText } from './save-file.ts'

/** What a format makes of a trajectory: its row in the list of exports. */
export interface ExportChoice {
  readonly name: string
  readonly label: string
  /** What files of the format keep. */
  readonly keeps: string
  /** What of the trajectories such a file does not say. Omitted: not known yet. */
  readonly lost?: readonly string[]
  readonly save: () => void
}

export interface Exports {
  readonly choices: readonly ExportChoice[]
  /** Nothing more will be chosen; a file that is being written is still saved. */
  close(): void
}

/**
 * The formats at once, and again with what each would lose, as soon as that is known. `onError` hears what goes wrong with
 * a file.
 */
export async function exportsOf(
  trajectory: TrajectoryView,
  onChoices: (choices: readonly ExportChoice[]) => void,
  onError: (error: unknown) => void,
  tasks: TrajectoryTasks = createTrajectoryTasks(),
): Promise<Exports> {
  const { writableFormats } = await import('#lib/formats/registry.ts')
  const run = tasks.run(trajectory)
  const looking = new AbortController()
  let writing = 0
  let isClosed = false
  const endWhenDone = () => isClosed && writing === 0 && tasks.dispose()
  const save = async (format: string) => {
    writing++
    try {
      const file = await run('trainerFile', { format }, { signal: new AbortController().signal })
      saveText(file.text, file.name)
    } catch (error) {
      onError(error)
    } finally {
      writing--
      endWhenDone()
    }
  }
  const choices = writableFormats.map(
    ({ name, label, keeps }): ExportChoice => ({ name, label, keeps, save: () => void save(name) }),
  )
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

/** Several stored trajectories as one JSONL file. */
export interface SeveralExports {
  readonly choices: readonly ExportChoice[]
  /** Omitted: not known yet. */
  readonly preview?: Pick<ExportPreview, 'samples' | 'excluded'>
}

interface SeveralExportsOptions {
  /** Receives the formats at once, and again with what the file would contain and lose. */
  readonly onExports: (exports: SeveralExports) => void
  /** Receives why the preview failed. Any format can be chosen nevertheless. */
  readonly onPreviewError: (error: unknown) => void
  /** Receives what the server refused to save. */
  readonly onSaveError: (error: unknown) => void
  readonly signal: AbortSignal
}

/** The lines of the file come in the order of the keys. */
export async function loadSeveralExports(
  keys: readonly string[],
  { onExports, onPreviewError, onSaveError, signal }: SeveralExportsOptions,
): Promise<void> {
  const { writableFormats } = await import('#lib/formats/registry.ts')
  const choices = writableFormats.map(
    ({ name, label, keeps }): ExportChoice => ({
      name,
      label,
      keeps,
      save: () => void saveSeveral(keys, name).catch(onSaveError),
    }),
  )
  if (signal.aborted) return
  onExports({ choices })
  try {
    const preview = await previewSeveral(keys, signal)
    onExports({ choices: choices.map((choice) => ({ ...choice, lost: lostOf(preview, choice.name) })), preview })
  } catch (error) {
    if (!signal.aborted) onPreviewError(error)
  }
}

async function previewSeveral(keys: readonly string[], signal: AbortSignal): Promise<ExportPreview> {
  return fetchJson('/api/export/preview', exportPreviewSchema, { method: 'POST', json: { keys }, signal })
}

/** What only some of the trajectories lose says how many. */
const lostOf = ({ samples: all, formats }: ExportPreview, format: string): readonly string[] =>
  formats
    .find(({ name }) => name === format)
    ?.lost.map(({ text, samples }) => (samples === all ? text : `${text} (${samples} of ${all})`)) ?? []

async function saveSeveral(keys: readonly string[], format: string): Promise<void> {
  const response = await callApi('/api/export', { method: 'POST', json: { keys, format } })
  const content = await response.blob().catch(() => {
    throw new ApiError(
      response.status,
      'CUT_REPLY',
      'The file broke off before its end.',
      'Nothing was saved. Rollscope’s own server was stopped, or a trajectory was deleted or damaged meanwhile: export again.',
    )
  })
  const excluded = Number(response.headers.get(EXCLUDED_HEADER) ?? 0)
  saveContent(content, severalFileName(keys.length - excluded, format))
}
