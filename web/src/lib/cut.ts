/** A text that is too long ends at a word, with an ellipsis; one word that is too long, such as a line of Chinese, ends anywhere. */
export function cut(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const short = letters.slice(0, most - 1).join('');
  const whole = /\s/.test(letters[most - 1] ?? '') ? short : short.replace(/\s+\S*$/, '');
  return `${(whole.length > short.length / 2 ? whole : short).trimEnd()}…`;
}
