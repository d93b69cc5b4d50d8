"""Adds data to the service before the run, and inserts existing IDs into most requests, so that they get past a 404."""

import json
import os
import random
import urllib.request
import uuid

import schemathesis

URL = os.environ["SERVICE_URL"]
TOKEN = os.environ["SERVICE_TOKEN"]
PROJECT = os.environ["SERVICE_PROJECT"]
COMMIT = os.environ["SERVICE_COMMIT"]
AGENT = "b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60"
ENVIRONMENTS = ["production", "test"]
TASK = {
    "message": "create, run, commit and push",
    "agentConfig": {
        "name": "data_engineer_agent",
        "mode": "ACT",
        "projectId": PROJECT,
        "sourceBranchName": "main",
        "environmentName": "production",
        "targetBranchName": "work",
    },
}
STREAMING = {
    "name": "orders",
    "agentId": AGENT,
    "streamingSource": {"connection": {"username": "reader"}},
    "streamingTarget": {"connection": {"authentication": {"type": "key-pair"}}},
}

chance = random.Random(1)


def post(path, body, **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **headers}
    request = urllib.request.Request(URL + path, data=data, headers=headers, method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def fill():
    project = f"/v1/projects/{PROJECT}"
    connection = {"name": "main", "platformConnectionType": "dwh"}
    post(f"{project}/data-platform-connections", {**connection, "authProvider": "warehouse_a", "authType": "key_pair"})
    for name in ENVIRONMENTS:
        environment = {"name": name, "defaultAgentId": AGENT, "defaultUserAccessLevel": "default"}
        connections = {"defaultConnections": {"DWH": {"warehouse_a": "main"}}, "connectionOverrides": []}
        post(f"{project}/environments", {**environment, **connections})
    variables = [f"v{number}" for number in range(200)]
    for name in variables:
        variable = {"name": name, "type": "TEXT", "behaviour": "SHARED", "value": "x"}
        post(f"{project}/variables", variable)
        override = {"overrides": [{"environmentName": "test", "value": "y"}]}
        post(f"{project}/variables/{name}/environment-overrides", override)
    execution = {"pipelineName": "load", "environmentName": "production"}
    executions = [post(f"{project}/pipeline-executions", execution) for _ in range(20)]
    streams = [post(f"{project}/streaming-pipelines", STREAMING) for _ in range(5)]
    tasks = [post("/v1/ai/agents/tasks", TASK) for _ in range(200)]
    part = (
        '--x\r\nContent-Disposition: form-data; name=".platform/shared-pipelines.yaml"\r\n\r\n'
        "pipelines: [{ pipeline: load.orch.yaml, id: load, enabled: true }]\r\n--x--\r\n"
    )
    form = {"Content-Type": "multipart/form-data; boundary=x", "sharedPipelineIdPrefix": "p", "versionName": "1"}
    post("/v1/shared-pipelines/artifacts", part.encode(), **form)
    return {
        "projectId": [PROJECT],
        "agentId": [AGENT],
        "variableName": variables,
        "environmentName": ENVIRONMENTS,
        "pipelineExecutionId": [one["pipelineExecutionId"] for one in executions],
        "streamingPipelineId": [one["streamingPipelineId"] for one in streams],
        "taskId": [one["taskId"] for one in tasks],
        "sharedPipelineIdPrefix": ["p"],
        "versionName": ["1"],
        "pipelineName": ["load"],
        "sourceBranchName": ["main"],
        "generateBranch": [True],
        "branchName": ["main"],
        "commitId": [COMMIT],
        "pipelines": [["load.orch.yaml"]],
        "warehouse_a": ["main"],
        "connectionName": ["main"],
    }


THERE = fill()


def with_what_is_there(value):
    if isinstance(value, list):
        return [with_what_is_there(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: replaced(key, item) for key, item in value.items()}


def fits(key, item):
    """Returns whether the value matches the description; intentionally wrong values are not replaced."""
    if not item or not isinstance(item, type(THERE[key][0])) or (isinstance(item, list) and not all(item)):
        return False
    if not key.endswith("Id") or key == "commitId":
        return True
    try:
        return bool(uuid.UUID(item))
    except ValueError:
        return False


def replaced(key, item):
    if key in THERE and fits(key, item) and chance.random() < 0.8:
        return chance.choice(THERE[key])
    return with_what_is_there(item)


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    return with_what_is_there(path_parameters)


@schemathesis.hook
def map_query(context, query):
    return with_what_is_there(query)


@schemathesis.hook
def map_body(context, body):
    body = with_what_is_there(body)
    # A rule that no schema can express: the only property of a secret's value is the one that its key names.
    if isinstance(body, dict) and isinstance(body.get("key"), str) and "value" in body and chance.random() < 0.8:
        body["value"] = {body["key"]: "secret"}
    return body
