'use client'
import { useState } from 'react'
import { countText, countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { beginningOf } from '#lib/util/text/excerpt.ts'
import { visibleText } from './visible-text.ts'

interface BoundedTextProps {
  readonly text: string
  /** Label of the scrollable box for screen readers, such as `Result of call 2`. */
  readonly label: string
  /** Number of characters shown at first. */
  readonly longest?: number
  readonly className?: string
}

/**
 * Shows a text of any length, with every character visible. A long text is cut and states its length; on request all of it
 * is shown in a scrollable box, in pieces, so that the browser lays out only the visible ones.
 */
export function BoundedText({ text, label, longest = LONGEST, className = '' }: BoundedTextProps) {
  const [isWhole, setIsWhole] = useState(false)
  const start = startOf(text, longest)
  if (start.length === text.length) return <div className={`${TEXT} ${className}`}>{visibleText(text)}</div>
  return (
    <div>
      {isWhole ? (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset has another meaning, and each text would be a landmark
        <div
          role="group"
          aria-label={label}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
          tabIndex={0}
          className="max-h-[60dvh] overflow-y-auto rounded border border-line p-1"
        >
          {piecesOf(text).map((piece, index) => (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text never move
              key={index}
              className={`${TEXT} [contain-intrinsic-size:auto_2000px] [content-visibility:auto] ${className}`}
            >
              {visibleText(piece)}
            </div>
          ))}
        </div>
      ) : (
        <div className={`${TEXT} ${className}`}>{visibleText(start)}…</div>
      )}
      <button
        type="button"
        className="mt-1 text-left font-medium font-sans text-accent text-xs hover:underline"
        onClick={() => setIsWhole(!isWhole)}
      >
        {isWhole ? 'Show less' : `Show all ${sizeText(text)}`}
      </button>
    </div>
  )
}

const TEXT = 'whitespace-pre-wrap [overflow-wrap:anywhere]'
const LONGEST = 4_000
const MOST_LINES = 40
/** Number of characters in a piece, which is laid out at once. */
const PIECE = 8_000

/** Returns the beginning of the text, never ending between the two halves of a surrogate pair. */
function startOf(text: string, longest: number): string {
  let end = -1
  for (let line = 0; line < MOST_LINES; line++) {
    end = text.indexOf('\n', end + 1)
    if (end < 0 || end >= longest) break
  }
  if ((end < 0 || end >= longest) && text.length <= longest) return text
  return beginningOf(text, end < 0 || end > longest ? longest : end)
}

/** Returns the pieces of a text, cut at line ends if possible: the block of the next piece takes the place of the line end. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length; ) {
    const lineEnd = text.lastIndexOf('\n', start + PIECE)
    const isLast = start + PIECE >= text.length
    const end = !isLast && lineEnd > start ? lineEnd : start + beginningOf(text.slice(start), PIECE).length
    pieces.push(text.slice(start, end))
    start = end === lineEnd ? end + 1 : end
  }
  return pieces
}

function sizeText(text: string): string {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  const characters = countWithNoun(text.length, 'character')
  return lines > 1 ? `${countText(lines)} lines (${characters})` : characters
}

/** Shows a foreign text within a text of the application: hidden characters are visible, and its direction is isolated. */
export const ForeignText = ({ children }: { readonly children: string }) => <bdi>{visibleText(children)}</bdi>
