'use client'
import { type ComponentType, createElement, lazy, type ReactNode, Suspense } from 'react'

/** Returns a component whose code is loaded when it is first shown. Until then it shows `loading`. */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  loading: ReactNode = null,
): ComponentType<Props> {
  const Part = lazy(async () => ({ default: await load() }))
  return (props) => createElement(Suspense, { fallback: loading }, createElement(Part, props))
}
