import { type ComponentType, createElement, useEffect, useState } from 'react'

/**
 * Returns a component whose code is loaded when it is first shown. If that fails, its place says so and the page stays. The code is loaded
 * again when the part is shown the next time. Parts that a saved page has too use this in place of `lazyPart`, which needs the application.
 */
export function latePart<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const code: PartCode<Props> = { loaded: undefined, load }
  return (props) => createElement(CodeOrFailure<Props>, { code, props })
}

interface PartCode<Props> {
  /** The component, once its code is loaded. */
  loaded: ComponentType<Props> | undefined
  readonly load: () => Promise<ComponentType<Props>>
}

function CodeOrFailure<Props extends object>({
  code,
  props,
}: {
  readonly code: PartCode<Props>
  readonly props: Props
}) {
  const [shown, setShown] = useState<{ readonly Part: ComponentType<Props> } | 'failed' | undefined>(
    code.loaded && { Part: code.loaded },
  )
  useEffect(() => {
    if (code.loaded) return
    let isCurrent = true
    code.load().then(
      (Part) => {
        code.loaded = Part
        if (isCurrent) setShown({ Part })
      },
      () => {
        if (isCurrent) setShown('failed')
      },
    )
    return () => {
      isCurrent = false
    }
  }, [code])
  if (shown === undefined) return <p className="text-faint">Loading…</p>
  return shown === 'failed' ? (
    <p role="alert">This part could not be loaded. Close it, and open it again.</p>
  ) : (
    createElement(shown.Part, props)
  )
}
