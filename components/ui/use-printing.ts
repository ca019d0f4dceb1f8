import { useEffectEvent, useLayoutEffect, useState } from 'react'
import { flushSync } from 'react-dom'

/** Calls `onChange` before the page is printed and after. What it changes is on the paper, also state of React. */
export function usePrintChange(onChange: (isPrinting: boolean) => void): void {
  const change = useEffectEvent(onChange)
  useLayoutEffect(() => {
    const onPrint = ({ type }: Event) => flushSync(() => change(type === 'beforeprint'))
    window.addEventListener('beforeprint', onPrint)
    window.addEventListener('afterprint', onPrint)
    return () => {
      window.removeEventListener('beforeprint', onPrint)
      window.removeEventListener('afterprint', onPrint)
    }
  }, [])
}

/** Returns whether the page is being printed. */
export function useIsPrinting(): boolean {
  const [isPrinting, setIsPrinting] = useState(false)
  usePrintChange(setIsPrinting)
  return isPrinting
}
