//! From a call of the protocol to a tool and back.
//!
//! Owns: which caller a call is for, how many run at one time, the shape of answers. Refuses: what tools do.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use belljar_domain::{Principal, SandboxId};
use belljar_engine::service::{Service, ServiceError};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, JsonObject, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{
    catalogue,
    failure::{Outcome, ToolFailure},
};

/// The most calls carried out at one time; more wait.
const AT_ONCE: usize = 256;
/// What a model is told first.
const INSTRUCTIONS: &str = "Sandboxes on this machine, sealed from it. Create one with sandbox_create, run code in it with sandbox_execute, \
    look at files and logs, and delete it when you are done. A sandbox has no network unless it was asked for.";

/// The tools, for one caller or for whoever a request says it comes from.
#[derive(Debug, Clone)]
pub(super) struct Tools {
    service: Service,
    caller: Option<Arc<Principal>>,
    version: &'static str,
    /// Where sandboxes are over HTTP, if they are.
    url: Option<Arc<str>>,
    places: Arc<Semaphore>,
    made: Arc<Mutex<BTreeSet<SandboxId>>>,
}

impl Tools {
    pub(super) fn new(service: Service, version: &'static str) -> Self {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        Self { service, caller: None, version, url: None, places, made: Arc::default() }
    }

    /// Carries every call out for this caller.
    pub(super) fn on_behalf_of(self, who: Arc<Principal>) -> Self {
        Self { caller: Some(who), made: Arc::default(), ..self }
    }

    pub(super) fn served_at(self, url: &str) -> Self {
        Self { url: Some(url.into()), ..self }
    }

    /// The sandboxes made here that were not deleted here.
    pub(super) fn made(&self) -> Vec<SandboxId> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    fn call(&self, context: RequestContext<RoleServer>) -> Result<Call, ErrorData> {
        let asked = || context.extensions.get::<axum::http::request::Parts>()?.extensions.get().cloned();
        let who = self.caller.clone().or_else(asked);
        let who = who.ok_or_else(|| ErrorData::invalid_request("nobody is known to ask for this", None))?;
        Ok(Call { tools: self.clone(), who, context })
    }
}

/// One call of a tool.
pub(super) struct Call {
    pub(super) tools: Tools,
    pub(super) who: Arc<Principal>,
    pub(super) context: RequestContext<RoleServer>,
}

impl Call {
    pub(super) fn service(&self) -> &Service {
        &self.tools.service
    }

    pub(super) fn url(&self, id: SandboxId) -> Option<String> {
        self.tools.url.as_ref().map(|url| format!("{url}/api/v1/sandboxes/{id}"))
    }

    /// Asks the service, on a thread that may block.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Service, &Principal) -> Result<T, ServiceError> + Send + 'static,
    ) -> Outcome<T> {
        let (service, who) = (self.tools.service.clone(), Arc::clone(&self.who));
        match spawn_blocking(move || question(&service, &who)).await {
            Ok(answer) => Ok(answer?),
            Err(error) if error.is_cancelled() => Err(ServiceError::Closing.into()),
            Err(error) => Err(ToolFailure::new("INTERNAL_ERROR", format!("could not finish: {error}"))),
        }
    }

    pub(super) fn note_made(&self, id: SandboxId) {
        self.tools.made.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }

    pub(super) fn note_gone(&self, id: SandboxId) {
        self.tools.made.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    async fn carry_out(self, name: &str, arguments: JsonObject) -> Result<CallToolResult, ErrorData> {
        let Ok(_place) = Arc::clone(&self.tools.places).acquire_owned().await else {
            return Ok(ToolFailure::from(ServiceError::Closing).answer());
        };
        Ok(match name {
            "sandbox_create" => shown(self.create(read(arguments)?).await),
            "sandbox_execute" => return self.execute(read(arguments)?).await,
            "sandbox_status" => shown(self.status(read(arguments)?).await),
            "sandbox_stop" => shown(self.stop(read(arguments)?).await),
            "sandbox_configure" => shown(self.configure(read(arguments)?).await),
            "sandbox_upload" => shown(self.upload(read(arguments)?).await),
            "sandbox_logs" => shown(self.logs(read(arguments)?).await),
            "sandbox_list" => shown(self.list(read(arguments)?).await),
            "sandbox_delete" => shown(self.delete(read(arguments)?).await),
            "sandbox_read_file" => shown(self.read_file(read(arguments)?).await),
            "sandbox_write_file" => shown(self.write_file(read(arguments)?).await),
            "sandbox_list_files" => shown(self.list_files(read(arguments)?).await),
            "sandbox_diff" => shown(self.diff(read(arguments)?).await),
            "sandbox_snapshot" => shown(self.snapshot(read(arguments)?).await),
            unknown => {
                return Err(ErrorData::invalid_params(format!("there is no tool `{unknown}`"), None));
            }
        })
    }
}

fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, ErrorData> {
    serde_path_to_error::deserialize(serde_json::Value::Object(arguments))
        .map_err(|error| ErrorData::invalid_params(format!("the arguments make no sense: {error}"), None))
}

pub(super) fn shown<T: Serialize>(outcome: Outcome<T>) -> CallToolResult {
    let value = outcome.and_then(|result| {
        serde_json::to_value(result).map_err(|error| ToolFailure::new("INTERNAL_ERROR", error.to_string()))
    });
    value.map_or_else(ToolFailure::answer, CallToolResult::structured)
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("belljar", self.version))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult { tools: catalogue::tools().to_vec(), ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        self.call(context)?.carry_out(&request.name, arguments).await.map(CallToolResponse::from)
    }
}
