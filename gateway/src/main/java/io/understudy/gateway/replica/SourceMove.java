package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.function.Predicate;

/**
 * A switch of a replica to a cluster with the same contents at other revisions.
 *
 * @param revision of the new cluster with the contents
 * @param endMarker revision of the former cluster with the contents; zero if that is not certain
 * @param former greatest revision in an answer of the former cluster: clients may know it
 * @param unrelated keys that differ between both clusters, in any range
 * @param mirrored ranges of keys that are equal in both clusters, except unrelated ones
 */
public record SourceMove(
        Revision revision,
        Revision endMarker,
        Revision former,
        Predicate<ByteString> unrelated,
        Predicate<KeyRange> mirrored) {}
