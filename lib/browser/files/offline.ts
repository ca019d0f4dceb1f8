/** Saves the shown view as one HTML file that needs no server and no network. The code is loaded on its first use. */

import type { Characters, OfflineParts, OfflineViewState } from '#lib/share/offline/document.ts'
import { type FontFace, fontFacesIn, isNeeded, withFonts } from '#lib/share/offline/fonts.ts'
import { offlineHtml } from '#lib/share/offline/page.ts'
import { packDocument } from '#lib/share/offline/payload.ts'
import { offlineFileName } from '#lib/trajectory/format/file.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { toBase64 } from '#lib/util/text/base64.ts'
import { createTrajectoryTasks, type TrajectoryTasks } from '../workers/inspection.ts'
import { FileError } from './file-error.ts'
import { saveContent } from './save-file.ts'

/** The view as the inspector has it. */
export interface ShownView extends Omit<OfflineViewState, 'folds' | 'marks'> {
  readonly folds: { readonly segments: ReadonlySet<number>; readonly thinks: ReadonlySet<number> }
  readonly marks: readonly { readonly kind: string; readonly ranges: Int32Array }[]
}

/** Saves the file. Throws FileError if a part of the application cannot be read, and errors of the worker. */
export async function exportOffline(
  trajectory: TrajectoryView,
  shown: ShownView,
  parts: OfflineParts,
  tasks: Pick<TrajectoryTasks, 'run' | 'dispose'> = createTrajectoryTasks(),
): Promise<void> {
  const signal = new AbortController().signal
  try {
    const [script, file] = await Promise.all([
      textAt('/built/offline.js'),
      tasks.run(trajectory)('offlineFile', { view: offlineView(shown), parts }, { signal }),
    ])
    const [style, payload] = await Promise.all([styleOfPage(file.characters), packDocument(file.json)])
    const html = offlineHtml({ title: `${file.title} · Rollscope`, script, style, payload })
    saveContent(new Blob([html], { type: 'text/html' }), offlineFileName(trajectory))
  } finally {
    tasks.dispose()
  }
}

/** Returns the view for the file. The page repeats the search; a hovered range is omitted; other marks are kept. */
const offlineView = ({ colour, limit, selection, find, folds, marks }: ShownView): OfflineViewState => ({
  colour,
  limit,
  selection,
  find,
  folds: { segments: [...folds.segments], thinks: [...folds.thinks] },
  marks: marks.flatMap(({ kind, ranges }) =>
    kind === 'edge' || kind === 'cut' || kind === 'drift' ? [{ kind, ranges: Array.from(ranges) }] : [],
  ),
})

/** Returns all styles of the application, with the fonts that the characters need. */
async function styleOfPage(characters: Characters): Promise<string> {
  const links = Array.from(document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]'), ({ href }) => href)
  return (await Promise.all([...new Set(links)].map((link) => sheetAt(link, characters)))).join('\n')
}

async function sheetAt(address: string, characters: Characters): Promise<string> {
  const style = await textAt(address)
  const contents = fontFacesIn(style)
    .filter((face) => isNeeded(face, characters))
    .map(async (face): Promise<[FontFace, string]> => {
      const font = await (await answerOf(new URL(face.url, address).href)).arrayBuffer()
      return [face, `data:font/woff2;base64,${toBase64(new Uint8Array(font))}`]
    })
  return withFonts(style, new Map(await Promise.all(contents)))
}

async function textAt(address: string): Promise<string> {
  return (await answerOf(address)).text()
}

async function answerOf(address: string): Promise<Response> {
  const answer = await fetch(address).catch(() => undefined)
  if (!answer?.ok)
    throw new FileError(
      `The page cannot be saved: ${new URL(address, location.href).pathname} cannot be read.`,
      'Rollscope’s own server may have stopped, or was built anew: reload the page.',
    )
  return answer
}
