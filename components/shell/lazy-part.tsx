'use client'
import { type ComponentType, createElement, lazy, type ReactNode, Suspense, useState } from 'react'
import { loadWhenAnswered } from '#lib/browser/application.ts'

/** A component whose code is loaded when it is first shown, or before that by `preload`. */
type LazyPart<Props> = ComponentType<Props> & {
  /** Starts to load the code. A failed load is tried again when the part is shown. */
  readonly preload: () => void
}

/**
 * Returns a component whose code is loaded when it is first shown. Until then it shows `loading`, also while the application does not
 * answer: the page says so, and does not change. A part whose code is already loaded is shown at once: React keeps a shown `loading` for at
 * least 0.3 s.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  loading: ReactNode = null,
): LazyPart<Props> {
  const loadPart = async () => {
    code.loaded = await load()
    return { default: code.loaded }
  }
  const code: PartCode<Props> = { loaded: undefined, Part: lazy(() => loadWhenAnswered(loadPart)), loading }
  return Object.assign((props: Props) => createElement(CodeOrLoading<Props>, { code, props }), {
    preload: () => void loadPart().catch(() => {}),
  })
}

interface PartCode<Props> {
  /** The component, once its code is loaded. */
  loaded: ComponentType<Props> | undefined
  /** The component that loads its code when it is rendered. */
  readonly Part: ComponentType<Props>
  readonly loading: ReactNode
}

function CodeOrLoading<Props extends object>({
  code,
  props,
}: {
  readonly code: PartCode<Props>
  readonly props: Props
}) {
  // The choice stays the same while the part is mounted, because another type of element would lose its state.
  const [loaded] = useState(() => code.loaded)
  return loaded
    ? createElement(loaded, props)
    : createElement(Suspense, { fallback: code.loading }, createElement(code.Part, props))
}
