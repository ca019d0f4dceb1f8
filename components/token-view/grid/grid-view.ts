/**
 * The scroll position of the token view. It stays at the end of a growing run, keeps the token at the top when the width
 * changes, and else is where the user scrolled. This module also draws the visible part and reports which tokens are
 * visible.
 */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { GridControl } from './grid-control.ts'
import { type Layout, lineOfToken, linesBetween, tokensBetween } from './layout.ts'
import { createScrollSpace, type ScrollSpace } from './scroll-space.ts'
import { createTokenPainter } from './token-painter.ts'
import type { TokenPicture } from './token-picture.ts'

/** Scroll position and drawing of one token view. */
export interface GridView {
  readonly space: ScrollSpace
  readonly layout: () => Layout | undefined
  readonly visible: () => ReturnType<GridControl['visible']>
  /** Draws another picture and moves to the place that the view should have in it. */
  readonly show: (picture: TokenPicture) => void
  readonly draw: (picture: TokenPicture) => void
  /** Reports another height of the viewport: a view that follows a run stays at its end. */
  readonly hasResized: () => void
  /** Reports that the scroll position has changed. */
  readonly hasScrolled: () => void
  readonly scrollTo: (top: number) => void
  readonly reveal: (tokenIndex: number) => void
  /** Calls `tell` with the visible tokens when they change, at most every VISIBLE_PAUSE_MS while the view scrolls. */
  readonly reportVisibleTokens: (tell: (tokens: Span) => void) => void
  readonly end: () => void
}

/** A token and the distance of its line from the top of the view, in pixels. */
interface Anchor {
  readonly token: number
  readonly below: number
}

const VISIBLE_PAUSE_MS = 120

/** Returns the view of a scrolled element. `layer`, inside `canvas`, receives the drawn rows. */
export function createGridView(viewport: HTMLElement, canvas: HTMLElement, layer: HTMLElement): GridView {
  const space = createScrollSpace(viewport)
  const painter = createTokenPainter(space, canvas, layer)
  let current: { readonly layout: Layout; readonly trajectory: TrajectoryView } | undefined
  let anchor: Anchor | undefined
  let isFollowing = true
  /** Id of the trajectory that grew while this view showed it. */
  let grown: string | undefined
  let lastReported: Span | undefined
  let reportTimer: ReturnType<typeof setTimeout> | undefined
  let reportLatest: ((tokens: Span) => void) | undefined

  const draw = (picture: TokenPicture) => {
    current = { layout: picture.layout, trajectory: picture.trajectory }
    if (picture.trajectory.live) grown = picture.trajectory.id
    painter.draw(picture)
  }
  /** Returns the scroll position in another layout; undefined means that it does not change. */
  const placeIn = ({ layout, trajectory }: TokenPicture): number | undefined => {
    if (isFollowing && (trajectory.live || current?.trajectory.live)) return layout.height
    if (!current || current.layout === layout || current.trajectory.id !== trajectory.id) return undefined
    anchor ??= anchorAt(current.layout, space.top(), space.viewHeight())
    const [before, after] = [current.layout, layout].map((one) => anchor && lineOfToken(one, anchor.token)?.top)
    return anchor && before !== undefined && after !== undefined && before !== after ? after - anchor.below : undefined
  }
  const scrollTo = (top: number) => {
    anchor = undefined
    space.scrollTo(top)
  }
  const tell = () => {
    reportTimer = undefined
    if (!current || !reportLatest) return
    const tokens = tokensBetween(current.layout, space.top(), space.top() + space.viewHeight())
    if (tokens.start === lastReported?.start && tokens.end === lastReported?.end) return
    lastReported = tokens
    reportLatest(tokens)
  }
  return {
    space,
    layout: () => current?.layout,
    visible: () => {
      const height = current?.layout.height ?? 0
      if (height === 0) return { start: 0, end: 1 }
      return { start: space.top() / height, end: Math.min(1, (space.top() + space.viewHeight()) / height) }
    },
    show: (picture) => {
      const place = placeIn(picture)
      const previousAnchor = anchor
      draw(picture)
      if (place === undefined) return
      space.scrollTo(place)
      anchor = previousAnchor
      draw(picture)
    },
    draw,
    hasResized: () => {
      if (isFollowing && current && current.trajectory.id === grown) space.scrollTo(current.layout.height)
    },
    hasScrolled: () => {
      // Rows may have arrived since the view moved to the end, so its own move must not end the following.
      if (space.isOwnMove()) return
      anchor = undefined
      const { height, rowHeight } = current?.layout ?? { height: 0, rowHeight: 0 }
      isFollowing = height - space.top() - space.viewHeight() < 2 * rowHeight
    },
    scrollTo,
    reveal: (index) => {
      const line = current && lineOfToken(current.layout, index)
      if (!current || !line) return
      const { rowHeight } = current.layout
      const bottom = space.top() + space.viewHeight()
      if (line.top < space.top() + rowHeight) scrollTo(line.top - 3 * rowHeight)
      else if (line.top > bottom - 2 * rowHeight) scrollTo(line.top - space.viewHeight() + 4 * rowHeight)
    },
    reportVisibleTokens: (listener) => {
      const isFirst = reportLatest === undefined
      reportLatest = listener
      if (isFirst) tell()
      else reportTimer ??= setTimeout(tell, VISIBLE_PAUSE_MS)
    },
    end: () => clearTimeout(reportTimer),
  }
}

function anchorAt(layout: Layout, top: number, viewHeight: number): Anchor | undefined {
  const line = linesBetween(layout, top, top + viewHeight).find(({ start, end }) => end > start)
  return line && { token: line.layout.firstToken + line.start, below: line.top - top }
}
