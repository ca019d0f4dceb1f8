/** Saves what is looked at as one HTML file that needs no server and no network. Loaded when it is asked for. */

import type { Characters, OfflineParts, OfflineView } from '#lib/share/offline/document.ts'
import { type FontFace, fontFacesIn, isNeeded, withFonts } from '#lib/share/offline/fonts.ts'
import { offlineHtml } from '#lib/share/offline/page.ts'
import { packDocument, toBase64 } from '#lib/share/offline/payload.ts'
import { offlineFileName } from '#lib/trajectory/format/file.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { createTrajectoryTasks, type TrajectoryTasks } from '../workers/inspection.ts'
import { FileError } from './file-error.ts'
import { saveContent } from './save-file.ts'

/** The view as the inspector has it. */
export interface ShownView extends Omit<OfflineView, 'folds' | 'marks'> {
  readonly folds: { readonly segments: ReadonlySet<number>; readonly thinks: ReadonlySet<number> }
  readonly marks: readonly { readonly kind: string; readonly ranges: Int32Array }[]
}

/** Throws FileError where a part of the application cannot be read, and what the worker throws. */
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

/** What is found is looked for again in the page, what is pointed at is not pointed at there; other marks go along. */
const offlineView = ({ colour, limit, selection, find, folds, marks }: ShownView): OfflineView => ({
  colour,
  limit,
  selection,
  find,
  folds: { segments: [...folds.segments], thinks: [...folds.thinks] },
  marks: marks.flatMap(({ kind, ranges }) =>
    kind === 'edge' || kind === 'cut' || kind === 'drift' ? [{ kind, ranges: Array.from(ranges) }] : [],
  ),
})

/** All styles of the application, with the fonts in which something is written. */
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
