'use client'
import { useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'

interface MarkerBannerProps {
  /** Markers of the template that are not single tokens of the tokenizer. */
  readonly markers: readonly string[]
  readonly tokenizer: string
  /** Tokenizers for which the template may have been written, the best match first. */
  readonly suggested: readonly string[]
  readonly onTokenizer: (name: string) => void
}

/** Most markers that are named; further ones are only counted. */
const MOST_NAMED = 6

/** Warns that the template does not match the tokenizer, and suggests another one. Shows nothing if they match. */
export function MarkerBanner({ markers, tokenizer, suggested, onTokenizer }: MarkerBannerProps) {
  const key = JSON.stringify([markers, tokenizer])
  const [hidden, setHidden] = useState<string>()
  if (markers.length === 0 || hidden === key) return null
  const named = markers.slice(0, MOST_NAMED).join(' ')
  const more = markers.length - MOST_NAMED
  return (
    <div data-plain-markers={markers.join(' ')}>
      <Banner
        tone="note"
        title={
          markers.length === 1
            ? `${named} is not a token of ${tokenizer}.`
            : `${markers.length} markers of the template are not tokens of ${tokenizer}: ${named}${more > 0 ? ` and ${more} more` : ''}`
        }
        hint="They are encoded as plain text and merge with adjacent text: token counts, masks and the prefix doctor differ from the model’s."
      >
        {suggested.map((name) => (
          <Button key={name} className="max-w-full" onClick={() => onTokenizer(name)}>
            <span className="truncate">Use {name}</span>
          </Button>
        ))}
        <Button look="quiet" onClick={() => setHidden(key)}>
          Hide
        </Button>
      </Banner>
    </div>
  )
}
