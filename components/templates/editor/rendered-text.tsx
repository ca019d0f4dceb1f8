import { countText } from '#components/token-view/numbers.ts'
import { CopyButton } from '#components/ui/copy-button.tsx'

/** More would take the browser seconds to set. */
const LONGEST_SHOWN = 300_000

/** The text that the template wrote, to be read and copied. */
export function RenderedText({ text }: { readonly text: string }) {
  const shown = text.slice(0, LONGEST_SHOWN)
  return (
    <div className="grid h-full grid-rows-[auto_minmax(0,1fr)]">
      <p className="flex items-center justify-end gap-3 px-3.5 pt-2 text-faint text-xs">
        {shown.length < text.length && (
          <span>
            the first {countText(shown.length)} of {countText(text.length)} characters; all of them are copied
          </span>
        )}
        <CopyButton text={text}>Copy text</CopyButton>
      </p>
      <textarea
        readOnly
        aria-label="Rendered text"
        value={shown}
        spellCheck={false}
        className="resize-none px-3.5 py-2 font-mono leading-5"
      />
    </div>
  )
}
