/** Exports: written in a worker, a large one takes its time. */
import { severalFileName } from '#lib/core/file.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import { ApiError, callApi } from './api.ts'
import { createTrajectoryTasks, type TrajectoryTasks } from './inspection.ts'
import { saveContent, saveText } from './save-file.ts'

/** What a format makes of a trajectory: its row in the list of exports. */
export interface ExportChoice {
  readonly name: string
  readonly label: string
  /** What files of the format keep. */
  readonly keeps: string
  /** What of this trajectory such a file does not say. Omitted: not known yet, or never, as of several. */
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

/** Several stored trajectories as JSONL, in this order. `onError` hears what the server refused. */
export async function severalExportChoices(
  keys: readonly string[],
  onError: (error: unknown) => void,
): Promise<readonly ExportChoice[]> {
  const { writableFormats } = await import('#lib/formats/registry.ts')
  return writableFormats.map(({ name, label, keeps }) => ({
    name,
    label,
    keeps,
    save: () => saveSeveral(keys, name).catch(onError),
  }))
}

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
  saveContent(content, severalFileName(keys.length, format))
}
