/** Invisible characters and changes of direction, with which two names look the same. Joiners are letters of some scripts, and part of emoji. */
const INVISIBLE =
  /\u{34f}|\u{17b4}|\u{17b5}|[\u{180b}-\u{180f}]|[\u{fe00}-\u{fe0f}]|[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Noncharacter_Code_Point}\u{115f}\u{1160}\u{2060}-\u{206f}\u{3164}\u{ffa0}\u{fff0}-\u{fffb}\u{13430}-\u{1345f}\u{e0000}-\u{effff}](?<![\u{200c}-\u{200d}])|[\u{200c}-\u{200d}]{2,}|(?<![^\0-\u{2ff}])[\u{200c}-\u{200d}]|[\u{200c}-\u{200d}](?![^\0-\u{2ff}])/gu;

/** Removes them from a name. */
export function visible(text: string): string {
  const clean = text.replaceAll(INVISIBLE, '');
  // A joiner can be next to other characters then.
  return clean === text ? text : visible(clean);
}
