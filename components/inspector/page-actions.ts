import type { CommandScreen } from '#components/inspector/commands/command.ts'
import { loadWhenAnswered } from '#lib/browser/application.ts'
import { saveContent } from '#lib/browser/files/save-file.ts'
import type { Inspection } from './inspection.ts'

const EVERYTHING = { alternatives: true, messages: true, labels: false } as const

/** Returns the commands that save a token view as an image or as one HTML file. */
export function savingActions(inspection: Inspection): Pick<CommandScreen['page'], 'copyImage' | 'saveOffline'> {
  const { trajectory, view, folds, marks, say } = inspection
  return {
    copyImage: async () => {
      const { copyGridImage } = await loadWhenAnswered(() => import('#components/inspector/image/copy-image.ts'))
      say(await copyGridImage(inspection, trajectory.title ?? trajectory.model.name ?? 'Trajectory', saveContent))
    },
    saveOffline: async () => {
      const { exportOffline } = await loadWhenAnswered(() => import('#lib/browser/files/offline.ts'))
      say('Writing the page…')
      await exportOffline(trajectory, { ...view, folds, marks }, EVERYTHING)
        .then(() => say('Saved as one HTML file.'))
        .catch((error: unknown) => say(error instanceof Error ? error.message : String(error)))
    },
  }
}
