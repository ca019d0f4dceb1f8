'use client'
import { useState } from 'react'

/** A button that counts its clicks. */
export function Counter() {
  const [count, setCount] = useState(0)
  return (
    <button type="button" onClick={() => setCount(count + 1)}>
      {count}
    </button>
  )
}
