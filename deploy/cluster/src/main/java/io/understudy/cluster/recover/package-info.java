/** What is done when the quorum is lost: on from the member with the most recent data, all old data kept. */
@NullMarked
package io.understudy.cluster.recover;

import org.jspecify.annotations.NullMarked;
