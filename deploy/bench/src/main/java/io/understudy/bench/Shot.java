package io.understudy.bench;

import com.google.protobuf.ByteString;
import java.net.URI;

/**
 * A request to be sent over and over.
 *
 * @param server without a path
 * @param access the identity of its client
 * @param request as {@link Api#request}
 * @param answerBytes length of each answer's message or body; another length is an error
 * @param connections over which the requests are spread evenly
 * @param inFlight requests that wait for their answers at any time
 */
record Shot(URI server, Access access, Api api, ByteString request, int answerBytes, int connections, int inFlight) {}
