/** Foreign texts with characters that reorder or hide text: wherever such a text is shown, these characters appear as code points. */
import { render } from '@testing-library/react'
import type { ReactNode } from 'react'
import { expect, test } from 'vitest'
import { CallView } from '#components/inspector/messages/call-view.tsx'
import { TagList } from '#components/library/tag-list.tsx'
import { titleText } from '#components/shell/trajectory-rows/row-texts.ts'
import { Banner } from '#components/ui/banner.tsx'
import { BoundedText } from '#components/ui/bounded-text.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { CheckField } from '#components/ui/field.tsx'
import { Markdown } from '#components/ui/markdown.tsx'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { type Token, tokenAt, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { spanTitle } from '../card/span-title.ts'
import { TokenCard } from '../card/token-card.tsx'
import { Origin } from '../overview/origin.tsx'
import { Outline } from '../overview/outline.tsx'
import { ToolCalls } from '../overview/tool-calls.tsx'

const HOSTILE = '\u202Egpj\u2066\u200B'
const HIDDEN = /[\u200B\u202E\u2066]/

const FIXED = new Set(['kind', 'format', 'role', 'status', 'hex', 'createdAt', 'mode', 'endpoint', 'reason', 'type'])

/** A trajectory in which every text and name is hostile, except ids of the format itself. */
const hostile = spoiled(sampleTrajectory) as TrajectoryView

function spoiled(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => spoiled(item, name))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [name === 'input' ? key + HOSTILE : key, spoiled(item, key)]),
    )
  return typeof value === 'string' && !FIXED.has(name) ? value + HOSTILE : value
}

const TOKENS = Array.from({ length: tokenCount(hostile) }, (_, index) => tokenAt(hostile, index) as Token)

test.each<[string, ReactNode]>([
  ['the outline', <Outline key="" trajectory={hostile} selected={undefined} onSelect={() => {}} />],
  ['tool calls', <ToolCalls key="" trajectory={hostile} onSelect={() => {}} />],
  ['the origin', <Origin key="" trajectory={hostile} />],
  ...TOKENS.map((token): [string, ReactNode] => [
    `the card of token ${token.index}`,
    <TokenCard key="" trajectory={hostile} token={token} state="pinned" />,
  ]),
  ['a call', <CallView key="" part={{ kind: 'given-call', name: HOSTILE, input: { [HOSTILE]: HOSTILE } } as never} />],
  ['Markdown', <Markdown key="" text={`# ${HOSTILE}\n\n- **${HOSTILE}** \`${HOSTILE}\``} fallback={null} />],
  ['a text', <BoundedText key="" text={HOSTILE} label="text" />],
  ['tags', <TagList key="" tags={[HOSTILE, HOSTILE.repeat(2)]} most={1} />],
  ['a banner', <Banner key="" tone="bad" title={`${HOSTILE} cannot be read`} hint={HOSTILE} />],
  [
    'the title of a dialog',
    <Dialog key="" title={`Import ${HOSTILE}`} onClose={() => {}}>
      {null}
    </Dialog>,
  ],
  ['the label of a field', <CheckField key="" label={HOSTILE} note={HOSTILE} />],
])('%s shows every hidden character of a foreign text as its code point', (_name, element) => {
  const { baseElement } = render(element)
  const attributes = [...baseElement.querySelectorAll('*')].flatMap((part) =>
    [...part.attributes]
      .filter(({ name }) => ['title', 'aria-label', 'alt', 'placeholder'].includes(name))
      .map(({ value }) => value),
  )
  expect(baseElement.textContent).not.toMatch(HIDDEN)
  expect(attributes.filter((value) => HIDDEN.test(value))).toEqual([])
})

test('titles of the library and of spans show hidden characters as code points', () => {
  expect(titleText({ title: null, question: HOSTILE } as TrajectorySummary)).toBe('⟨U+202E⟩gpj⟨U+2066⟩⟨U+200B⟩')
  const call = { kind: 'malformed', id: HOSTILE, raw: '', why: '' }
  expect(spanTitle({ kind: 'tool-call', call, span: { start: 0, end: 1 } } as never, {} as never)).not.toMatch(HIDDEN)
})
