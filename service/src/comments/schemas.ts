import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, PersonRef, Strict, Timestamp } from '../http/schemas.ts';

const ObjectId = { ...Id, description: 'Id of the finding or work item (UUIDv7)' };
const CommentId = { ...Id, description: 'Id of the comment (UUIDv7)' };
export const CommentedParams = Strict({ id: ObjectId });
export const CommentParams = Strict({ id: ObjectId, comment_id: CommentId });

export const Comment = Named('Comment', {
  id: CommentId,
  text: Nullable(Type.String({ description: 'The text, as it was written. `null` if the comment was withdrawn', examples: ['Fixed in the next release.'] })),
  author: Type.String({ description: 'Name of the author at that time', examples: ['Ada Lovelace'] }),
  person: PersonRef('The person who wrote it. `null` if a connection did'),
  created_at: { ...Timestamp, description: 'When it was written' },
  withdrawn_at: Nullable({ ...Timestamp, description: 'When it was withdrawn. `null` if it was not', examples: [null] }),
  withdrawn_by: Nullable(Type.String({ description: 'Who withdrew it', examples: [null] })),
});
export const CommentList = PageOf('CommentList', Comment);
export const CommentQuery = Strict(listParameters(['created_at'] as const, '-created_at'));

export const CommentCreate = Named(
  'CommentCreate',
  { text: Type.String({ minLength: 1, maxLength: 4_000, pattern: '\\S', description: 'The text, at most 4,000 characters. It is shown as plain text' }) },
  { examples: [{ text: 'Fixed in the next release.' }] },
);
