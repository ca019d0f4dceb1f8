import type { DownloadProgress } from '#lib/api/tokenizer-download.ts'
import { sizeText } from '#lib/util/text/size-text.ts'

/** Downloads from the Hub for which a start waits, with their progress. */
export function Downloads({ downloads }: { readonly downloads: readonly DownloadProgress[] }) {
  return downloads.map(({ kind, name, file, bytes, total }) => (
    <div key={`${kind} ${name}`} data-download={name} className="border-line-strong border-l-3 bg-panel px-3.5 py-2.5">
      <p role="status" className="font-medium [overflow-wrap:anywhere]">
        Downloading the {kind} {name}
      </p>
      <p className="text-dim tabular-nums">
        {file} · {sizeText(bytes)} of {sizeText(total)}
      </p>
      <progress
        className="mt-1 block h-1.5 w-full max-w-md"
        aria-label={`Download of ${name}`}
        value={bytes}
        max={total}
      />
    </div>
  ))
}
