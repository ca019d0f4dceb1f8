import { type RefObject, useEffect, useEffectEvent } from 'react'
import type { Folds } from '../grid-options.ts'
import { type Foldable, foldToggled } from './folding.ts'

/** The controls that fold, and folded lines: a click on them folds or unfolds, and chooses no token. */
export function useFolding(
  canvas: RefObject<HTMLElement | null>,
  folds: Folds | undefined,
  onFolds: ((folds: Folds) => void) | undefined,
): void {
  const toggle = useEffectEvent((event: Event) => {
    const foldable = foldableOf(event.target)
    if (!foldable || !folds || !onFolds) return
    event.stopPropagation()
    if (event.type === 'click') onFolds(foldToggled(folds, foldable))
  })
  useEffect(() => {
    const element = canvas.current
    if (!element) return
    const listener = (event: Event) => toggle(event)
    element.addEventListener('click', listener)
    element.addEventListener('pointerdown', listener)
    return () => {
      element.removeEventListener('click', listener)
      element.removeEventListener('pointerdown', listener)
    }
  }, [canvas])
}

/** The painter says in `data-fold` what an element folds. */
function foldableOf(target: EventTarget | null): Foldable | undefined {
  const element = target instanceof Element ? target.closest<HTMLElement>('[data-fold]') : null
  const [, kind, at] = /^(segment|think) (\d+)$/.exec(element?.dataset.fold ?? '') ?? []
  return kind === undefined ? undefined : { kind: kind as Foldable['kind'], at: Number(at) }
}
